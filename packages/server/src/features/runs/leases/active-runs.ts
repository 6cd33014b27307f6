/** This process's active runs, and conversations that it recently queued or ended. Reading them costs no query. */

import { LRUCache } from 'lru-cache'
import { heldBytes } from '../../../shared/json-pieces.ts'
import type { AbandonedRun, ActiveRun, ActiveRuns, QueuedHere, StoredConversation } from '../ports.ts'

const lately = { ttl: 60_000, ttlAutopurge: true, max: 1_000 } as const
// Larger conversations are read from the database, so that a few of them do not evict all others.
const maxRememberedBytes = 131_072

/** @param maxBytes a positive integer that limits queued runs and idle conversations separately. */
export function createActiveRuns(maxBytes: number): ActiveRuns {
  const active = new Map<string, ActiveRun>()
  const abandoned: AbandonedRun[] = []
  const limits = { ...lately, maxSize: maxBytes }
  const idle = new LRUCache<string, StoredConversation>(limits)
  const queued = new LRUCache<string, QueuedHere>(limits)
  return {
    add(run) {
      active.set(run.conversationUuid, run)
      idle.delete(run.conversationUuid)
    },
    remove(run, outcome) {
      if (active.get(run.conversationUuid)?.runUuid === run.runUuid) active.delete(run.conversationUuid)
      const size = heldBytes(outcome)
      if (outcome && size <= maxRememberedBytes) idle.set(run.conversationUuid, outcome, { size })
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
      const size = heldBytes(run)
      if (size > maxRememberedBytes) return
      queued.set(runUuid, run, { size })
      if (isAlone) idle.set(run.conversation.uuid, run.conversation, { size })
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
