/** Event logs of ended runs, unpacked: one for all that read the same run, kept while somebody does. */
import { type StoredLog, unpackEventLog } from '../encoding/event-log-file.ts'
import type { RunStore } from '../ports.ts'

export interface StoredLogs {
  /** Null when the run's log has been dropped, or can no longer be read. A reader keeps the log by holding on to it. */
  open(workspaceId: number, runUuid: string): Promise<StoredLog | null>
}

/** @param runs where the packed logs lie. */
export function createStoredLogs(runs: Pick<RunStore, 'findEventLog'>): StoredLogs {
  // Weak, so that nobody has to say when the last reader has gone.
  const opened = new Map<string, WeakRef<StoredLog>>()
  const opening = new Map<string, Promise<StoredLog | null>>()
  const collected = new FinalizationRegistry<string>((runUuid) => {
    if (!opened.get(runUuid)?.deref()) opened.delete(runUuid)
  })

  const unpack = async (workspaceId: number, runUuid: string): Promise<StoredLog | null> => {
    const file = await runs.findEventLog(workspaceId, runUuid)
    if (!file) return null
    const log = await unpackEventLog(file)
    if (!log) return null
    opened.set(runUuid, new WeakRef(log))
    collected.register(log, runUuid)
    return log
  }

  return {
    async open(workspaceId, runUuid) {
      const shared = opened.get(runUuid)?.deref()
      if (shared) return shared
      const pending = opening.get(runUuid) ?? unpack(workspaceId, runUuid).finally(() => opening.delete(runUuid))
      opening.set(runUuid, pending)
      return pending
    },
  }
}
