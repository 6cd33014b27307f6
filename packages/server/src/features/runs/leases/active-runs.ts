/** The runs that this process supervises, and conversations that it queued or ended lately. Reading them costs no statement. */
import type { RunError } from '../../../shared/app-error.ts'
import { createExpiringMap } from '../../../shared/expiring-map.ts'
import { heldBytes } from '../../../shared/text/held-bytes.ts'
import type { StoredConversation } from '../ports.ts'

export interface ActiveRun {
  runUuid: string
  conversationUuid: string
  workspaceId: number
  /** The current state of the conversation. */
  view(): StoredConversation
  /** Settles when the run has left this process. */
  ended: Promise<void>
  /** Ends the run with `reason` as its error. */
  abort(reason: RunError): void
}

/** The row of a run that this process has queued. */
export interface QueuedHere {
  conversation: StoredConversation
  /** JSON of what the run starts with. */
  input: string
}

type AbandonedRun = Pick<ActiveRun, 'runUuid' | 'conversationUuid' | 'workspaceId'>

export interface ActiveRuns {
  add(run: ActiveRun): void
  /** @param outcome the conversation as stored; undefined when nothing was stored here. */
  remove(run: ActiveRun, outcome: StoredConversation | undefined): void
  /** No end could be stored. The reaper ends the row. */
  abandon(run: AbandonedRun): void
  /** Runs abandoned since the last call. */
  takeAbandoned(): AbandonedRun[]
  find(workspaceId: number, conversationUuid: string): ActiveRun | undefined
  /** Queued or ended here lately. */
  findIdle(workspaceId: number, conversationUuid: string): StoredConversation | undefined
  /** @param isAlone no other process changes the row, so the conversation is read from memory until the run starts. */
  rememberQueued(runUuid: string, queued: QueuedHere, isAlone: boolean): void
  /** Returns a run once. Its row wins where the two differ. */
  takeQueued(runUuid: string): QueuedHere | undefined
  /** The next run of the conversation has started: the remembered state is outdated. */
  forget(conversationUuid: string): void
  /** Forgets all conversations: another server may have continued any of them. */
  forgetAll(): void
  list(): ActiveRun[]
}

/** Only saves statements: the database has all of it. */
const lately = { ttlMs: 60_000, maxEntries: 1_000 } as const
// Larger ones are read from their rows, so that a few of them do not evict all others.
const maxRememberedBytes = 131_072

/** @param maxBytes the limit for queued runs, and again for conversations. */
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
      if (active.get(run.conversationUuid) === run) active.delete(run.conversationUuid)
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
