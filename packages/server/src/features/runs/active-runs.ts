/** The runs that this process drives, and conversations that ended here a moment ago: read without a statement. */
import type { RunError } from '../../shared/app-error.ts'
import { createExpiringMap } from '../../shared/expiring-map.ts'
import type { StoredConversation } from './ports.ts'

export interface ActiveRun {
  runUuid: string
  conversationUuid: string
  workspaceId: number
  /** The conversation as it stands now. */
  view(): StoredConversation
  /** Settles when the run has left this process, however it ended. */
  ended: Promise<void>
  /** Ends the run with `reason` as its error. */
  abort(reason: RunError): void
}

type AbandonedRun = Pick<ActiveRun, 'runUuid' | 'conversationUuid' | 'workspaceId'>

export interface ActiveRuns {
  add(run: ActiveRun): void
  /** @param outcome the conversation as stored; undefined when nothing was stored here. */
  remove(run: ActiveRun, outcome: StoredConversation | undefined): void
  /** No end could be stored: the row is left to who reaps. */
  abandon(run: AbandonedRun): void
  /** Runs given up since the last call. */
  takeAbandoned(): AbandonedRun[]
  find(workspaceId: number, conversationUuid: string): ActiveRun | undefined
  findEnded(workspaceId: number, conversationUuid: string): StoredConversation | undefined
  /** The next run of the conversation takes over: what is remembered is no longer its state. */
  forget(conversationUuid: string): void
  list(): ActiveRun[]
}

/** What is remembered of ended conversations only saves statements: the database has it all. */
const justEnded = { ttlMs: 60_000, maxEntries: 1_000 } as const

export function createActiveRuns(): ActiveRuns {
  const active = new Map<string, ActiveRun>()
  const abandoned: AbandonedRun[] = []
  const ended = createExpiringMap<StoredConversation>(justEnded)
  return {
    add(run) {
      active.set(run.conversationUuid, run)
    },
    remove(run, outcome) {
      if (active.get(run.conversationUuid) === run) active.delete(run.conversationUuid)
      if (outcome) ended.set(run.conversationUuid, outcome)
    },
    abandon: (run) => void abandoned.push(run),
    takeAbandoned: () => abandoned.splice(0),
    find(workspaceId, conversationUuid) {
      const run = active.get(conversationUuid)
      return run?.workspaceId === workspaceId ? run : undefined
    },
    findEnded(workspaceId, conversationUuid) {
      const conversation = ended.get(conversationUuid)
      return conversation?.workspaceId === workspaceId ? conversation : undefined
    },
    forget: (conversationUuid) => ended.delete(conversationUuid),
    list: () => [...active.values()],
  }
}
