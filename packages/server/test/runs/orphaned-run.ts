import { randomUUID } from 'node:crypto'
import type { NewConversation, NewRun, RunStart } from '../../src/features/runs/ports.ts'
import type { RunFigures } from '../../src/features/runs/run.ts'

export const started = {
  mode: 'json',
  apiKeyId: 1,
  authorId: 1,
  parameters: { text: null, state: 'none' },
} as const satisfies RunStart

export const noFigures: RunFigures = {
  givenFrom: null,
  givenCount: null,
  provider: null,
  model: null,
  finishReason: null,
  startedAt: null,
  firstTokenMs: null,
  isUsageEstimated: false,
  spans: null,
}

export function orphanedRun(
  ownerId: string,
  createdAt = new Date(),
): { conversation: NewConversation; run: NewRun & RunStart } {
  const conversation: NewConversation = {
    uuid: randomUUID(),
    workspaceId: 1,
    projectId: 1,
    versionUuid: randomUUID(),
    documentUuid: randomUUID(),
    path: 'some/prompt',
    contentHash: 'a'.repeat(64),
    customIdentifier: null,
    origin: 'run',
    via: 'api',
    config: { model: 'm' },
    createdAt,
  }
  const { uuid: conversationUuid, workspaceId, via } = conversation
  const ids = { uuid: randomUUID(), conversationUuid, workspaceId, ownerId }
  const run = { ...ids, epoch: 1, firstEventId: 1, via, createdAt, ...started }
  return { conversation, run }
}
