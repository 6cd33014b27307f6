import type { LogEntry as LogEntryBody } from '@stet/contract'
import type { LogEntry } from '../../features/logs/record-log.ts'
import { timestamp } from './timestamp.ts'

export function logEntryBody(entry: LogEntry): LogEntryBody {
  const { conversation } = entry
  return {
    id: entry.id,
    uuid: conversation.uuid,
    documentUuid: conversation.documentUuid,
    commitId: entry.versionId,
    resolvedContent: entry.resolvedContent,
    contentHash: conversation.contentHash,
    parameters: entry.parameters,
    customIdentifier: conversation.customIdentifier,
    duration: entry.durationMs,
    source: 'api',
    createdAt: timestamp(conversation.createdAt),
    updatedAt: timestamp(conversation.createdAt),
    promptSpan: { id: entry.promptSpan.id, traceId: entry.promptSpan.traceId },
    completionSpan: { id: entry.completionSpan.id, traceId: entry.completionSpan.traceId },
  }
}
