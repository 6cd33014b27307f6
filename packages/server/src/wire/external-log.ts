import type { LogEntry } from '@stet/contract/vocabulary'
import type { ExternalLog } from '../features/external-logs/record-external-log.ts'

export function externalLogBody(log: ExternalLog): LogEntry {
  const { conversation } = log
  return {
    id: log.id,
    uuid: conversation.uuid,
    documentUuid: conversation.documentUuid,
    commitId: log.versionId,
    resolvedContent: log.resolvedContent,
    contentHash: conversation.contentHash,
    parameters: log.parameters,
    customIdentifier: conversation.customIdentifier,
    duration: log.durationMs,
    source: 'api',
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.createdAt.toISOString(),
    promptSpan: { id: log.promptSpan.id, traceId: log.promptSpan.traceId },
    completionSpan: { id: log.completionSpan.id, traceId: log.completionSpan.traceId },
  }
}
