import { randomUUID } from 'node:crypto'
import type { NewConversation, NewRun } from '../../src/features/runs/ports.ts'

export function orphanedRun(ownerId: string, createdAt = new Date()): { conversation: NewConversation; run: NewRun } {
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
  const run = { uuid: randomUUID(), conversationUuid, workspaceId, ownerId, epoch: 1, firstEventId: 1, via, createdAt }
  return { conversation, run }
}
