/** This process's active runs, and conversations that it recently queued or ended. Reading them costs no query. */

import { LRUCache } from 'lru-cache'
import type { RunError } from '../../../shared/app-error.ts'
import { heldBytes } from '../../../shared/json-limits.ts'
import type { ClaimedRun } from '../../idempotency/ports.ts'
import type { NewConversation, NewRun, RunEnd, StoredConversation } from '../ports.ts'

export interface ActiveRun extends ClaimedRun {
  workspaceId: number
  view(): StoredConversation
  /** Settles when this process no longer supervises the run. */
  ended: Promise<unknown>
  abort(reason: RunError): void
  /** Limits the wait for an unavailable database to one more attempt. */
  giveUp(): void
}

export interface QueuedHere {
  conversation: StoredConversation
  /** The run's input as JSON. */
  input: string
}

/** @property end the end that readers were shown. Undefined if they were shown none. */
export type AbandonedRun = ClaimedRun & { workspaceId: number; end?: RunEnd | undefined }

export type ActiveRuns = ReturnType<typeof createActiveRuns>

const lately = { ttl: 60_000, ttlAutopurge: true, max: 1_000 } as const
// Larger conversations are read from the database, so that a few of them do not evict all others.
const maxRememberedBytes = 131_072

/** @param maxBytes a positive integer that limits queued runs and idle conversations separately. */
export function createActiveRuns(maxBytes: number) {
  const active = new Map<string, ActiveRun>()
  const abandoned: AbandonedRun[] = []
  const limits = { ...lately, maxSize: maxBytes }
  const idle = new LRUCache<string, StoredConversation>(limits)
  const queued = new LRUCache<string, QueuedHere>(limits)
  return {
    add(run: ActiveRun): void {
      active.set(run.conversationUuid, run)
      idle.delete(run.conversationUuid)
    },
    /** @param outcome the ended conversation; undefined if this process did not store the end. */
    remove(run: ClaimedRun, outcome: StoredConversation | undefined): void {
      if (active.get(run.conversationUuid)?.runUuid === run.runUuid) active.delete(run.conversationUuid)
      const size = heldBytes(outcome)
      if (outcome && size <= maxRememberedBytes) idle.set(run.conversationUuid, outcome, { size })
    },
    /** Registers a run that may still be active in the database, because a write failed. The reaper ends such runs. */
    abandon: (run: AbandonedRun) => void abandoned.push(run),
    takeAbandoned: () => abandoned.splice(0),
    find(workspaceId: number, conversationUuid: string): ActiveRun | undefined {
      const run = active.get(conversationUuid)
      return run?.workspaceId === workspaceId ? run : undefined
    },
    /** Finds a conversation that was recently queued or ended here. */
    findIdle(workspaceId: number, conversationUuid: string): StoredConversation | undefined {
      const conversation = idle.get(conversationUuid)
      return conversation?.workspaceId === workspaceId ? conversation : undefined
    },
    /** Finds the conversation of a run that is active here, or that was recently queued or ended here as the latest one. */
    findByRun(workspaceId: number, runUuid: string): StoredConversation | undefined {
      for (const run of active.values()) {
        if (run.runUuid === runUuid && run.workspaceId === workspaceId) return run.view()
      }
      for (const conversation of idle.values()) {
        if (conversation.latestRun?.uuid === runUuid && conversation.workspaceId === workspaceId) return conversation
      }
      return undefined
    },
    /** @param isAlone true if no other process can change the row. `findIdle` may then return the queued conversation. */
    rememberQueued(runUuid: string, run: QueuedHere, isAlone: boolean): void {
      const size = heldBytes(run)
      if (size > maxRememberedBytes) return
      queued.set(runUuid, run, { size })
      if (isAlone) idle.set(run.conversation.uuid, run.conversation, { size })
    },
    /** Returns a run only once. The run's row may have changed since `rememberQueued`. */
    takeQueued(runUuid: string): QueuedHere | undefined {
      const run = queued.get(runUuid)
      queued.delete(runUuid)
      return run
    },
    /** Drops the cached conversation, because its row has changed. */
    forget: (conversationUuid: string) => void idle.delete(conversationUuid),
    /** Drops all cached conversations, because another server may have continued them. */
    forgetAll: () => idle.clear(),
    list: (): ActiveRun[] => [...active.values()],
  }
}

const unfinished = {
  ...{ lastEventId: null, result: null, stopRequestedAt: null },
  ...{ givenFrom: null, givenCount: null, endedAt: null },
} as const

/** Returns the conversation at the start of a run, without messages. */
export function startedConversation(
  conversation: NewConversation,
  { uuid, epoch, firstEventId, createdAt }: Omit<NewRun, 'ownerId'>,
  status: 'queued' | 'running',
): StoredConversation {
  return {
    ...conversation,
    messages: [],
    status,
    epoch,
    lastEventId: firstEventId - 1,
    updatedAt: createdAt,
    latestRun: { ...unfinished, uuid, status, epoch, firstEventId, createdAt },
  }
}

/** Returns the conversation at the end of a run. */
export function endedConversation(
  conversation: StoredConversation,
  { uuid, firstEventId, createdAt }: NewRun,
  { epoch, status, lastEventId, messages, result, figures, endedAt }: RunEnd,
): StoredConversation {
  const shared = { epoch, status, lastEventId }
  const { givenFrom, givenCount } = figures
  const facts = { result, stopRequestedAt: null, givenFrom, givenCount, createdAt, endedAt }
  const latestRun = { ...shared, uuid, firstEventId, ...facts }
  return { ...conversation, ...shared, messages, updatedAt: endedAt, latestRun }
}
