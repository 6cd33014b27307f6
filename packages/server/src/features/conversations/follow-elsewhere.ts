/** Follows a run that another server supervises or will start. */

import type { FindEnd, RunLogReader, StoredConversation, StoredLog, StoredRun } from '../runs/ports.ts'
import { endOfRun } from '../runs/run-end.ts'
import type { FindDeps } from './find-conversation.ts'

interface RunElsewhere {
  workspaceId: number
  runUuid: string
  /** With `Number.MAX_SAFE_INTEGER`, the reader waits for the end and gets no events. */
  afterId: number
}

/** Returns undefined on a single server. */
export function followElsewhere(deps: FindDeps, run: RunElsewhere): RunLogReader | undefined {
  const { eventLog } = deps.runs
  return eventLog.followElsewhere?.(run.runUuid, run.afterId, () => findEnd(deps, run))
}

const noEvents: StoredLog = { messages: [], entries: [] }

async function findEnd(
  deps: FindDeps,
  { workspaceId, runUuid, afterId }: RunElsewhere,
): Promise<Awaited<ReturnType<FindEnd>>> {
  const status = await deps.runs.store.findRunStatus(workspaceId, runUuid)
  if (status === null) return 'deleted'
  if (status === 'queued' || status === 'running') return 'active'
  if (afterId === Number.MAX_SAFE_INTEGER) return noEvents
  const conversation = await deps.runs.store.findRun(workspaceId, runUuid)
  if (!conversation?.latestRun) return 'deleted'
  return (await storedLogOf(deps, conversation, conversation.latestRun)) ?? noEvents
}

/** Returns an ended run's events, or only its last ones if the event log was dropped. Undefined for an active run. */
export async function storedLogOf(
  { runs: { codec, storedLogs } }: FindDeps,
  conversation: StoredConversation,
  run: StoredRun,
): Promise<StoredLog | undefined> {
  if (!run.result) return undefined
  const log = await storedLogs.open(conversation.workspaceId, run.uuid)
  return log ?? endOfRun(codec, conversation, run, run.result)
}
