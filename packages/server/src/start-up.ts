/** Once the database is this process's own, before it answers: end what a dead process left, join the queue, make the first key. */
import type { Config } from './config.ts'
import { keepAdminKey } from './data-files.ts'
import { type CreateProject, createFirstWorkspace } from './features/access/first-start.ts'
import type { Deps } from './features/deps.ts'
import { dropIdempotencyRecords, releaseLostClaims } from './features/idempotency/drop-records.ts'
import { workRunQueue } from './features/runs/background/work-run-queue.ts'
import { dropEventLogs } from './features/runs/driving/drop-event-logs.ts'
import { keepLease, takeLease } from './features/runs/driving/keep-lease.ts'
import { recoverRuns } from './features/runs/driving/recover-runs.ts'
import type { Repeated } from './shared/time/repeat.ts'

interface StartUpInput {
  deps: Deps
  config: Config
  createProject: CreateProject
  /** Another server has just stopped serving, or lost its lock: its runs may still be on their way to their ends. */
  isSuccessor: boolean
}

export interface StartedWork {
  /** What to tell about the key of the first start; undefined when the database was not empty. */
  firstKey: string | undefined
  /** Takes no more runs once stopped. */
  queueWork: Repeated
  /** Loops that end with the process. */
  upkeep: Repeated[]
}

export async function startUp({ deps, config, createProject, isSuccessor }: StartUpInput): Promise<StartedWork> {
  if (!deps.runSettings.sharesDatabase) await deps.leases.endAll()
  // After an outage a living owner renews its lease first: a successor leaves the runs to `keepLease`, which waits for that.
  if (!isSuccessor) await recoverRuns(deps)
  await releaseLostClaims(deps)
  await takeLease(deps)
  const queueWork = await workRunQueue(deps)
  // Last of what may fail: a key that is generated here must reach its operator.
  const tenant = await createFirstWorkspace(deps, { adminKey: config.adminKey, createProject })
  const firstKey = tenant ? keepAdminKey(config, tenant) : undefined
  return { firstKey, queueWork, upkeep: [keepLease(deps), dropEventLogs(deps), dropIdempotencyRecords(deps)] }
}
