/** This process's active runs, and conversations that it recently queued or ended. Reading them costs no query. */

import { createExpiringMap } from '../../../shared/expiring-map.ts'
import { heldBytes } from '../../../shared/json-pieces.ts'
import type { AbandonedRun, ActiveRun, ActiveRuns, QueuedHere, StoredConversation } from '../ports.ts'

const lately = { ttlMs: 60_000, maxEntries: 1_000 } as const
// Larger conversations are read from the database, so that a few of them do not evict all others.
const maxRememberedBytes = 131_072

/** @param maxBytes limits queued runs and ended conversations separately. */
export function createActiveRuns(maxBytes: number): ActiveRuns {
  const active = new Map<string, ActiveRun>()
  const abandoned: AbandonedRun[] = []
  const idle = createExpiringMap<StoredConversation>({ ...lately, maxBytes })
  const queued = createExpiringMap<QueuedHere>({ ...lately, maxBytes })
  return {
    add(run) {
      active.set(run.conversationUuid, run)
      idle.delete(run.conversationUuid)
    },
    remove(run, outcome) {
      if (active.get(run.conversationUuid)?.runUuid === run.runUuid) active.delete(run.conversationUuid)
      const bytes = heldBytes(outcome)
      if (outcome && bytes <= maxRememberedBytes) idle.set(run.conversationUuid, outcome, bytes)
    },
    abandon: (run) => void abandoned.push(run),
    takeAbandoned: () => abandoned.splice(0),
    find(workspaceId, conversationUuid) {
      const run = active.get(conversationUuid)
      return run?.workspaceId === workspaceId ? run : undefined
    },
    findIdle(workspaceId, conversationUuid) {
      const conversation = idle.get(conversationUuid)
      return conversation?.workspaceId === workspaceId ? conversation : undefined
    },
    rememberQueued(runUuid, run, isAlone) {
      const bytes = heldBytes(run)
      if (bytes > maxRememberedBytes) return
      queued.set(runUuid, run, bytes)
      if (isAlone) idle.set(run.conversation.uuid, run.conversation, bytes)
    },
    takeQueued(runUuid) {
      const run = queued.get(runUuid)
      queued.delete(runUuid)
      return run
    },
    forget: (conversationUuid) => idle.delete(conversationUuid),
    forgetAll: () => idle.clear(),
    list: () => [...active.values()],
  }
}
