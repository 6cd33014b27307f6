/** Once the database is this process's own: ends the runs of a dead process, joins the queue, and creates the first key. */
import type { Config } from './config.ts'
import { keepAdminKey } from './data-files.ts'
import { type CreateProject, createFirstWorkspace } from './features/access/first-start.ts'
import { keepRetention } from './features/conversations/deletion/delete-conversations.ts'
import { purgeDeleted } from './features/conversations/deletion/purge-deleted.ts'
import type { Deps } from './features/deps.ts'
import { dropIdempotencyRecords, releaseLostClaims } from './features/idempotency/drop-records.ts'
import { dropEventLogs } from './features/runs/events/stored-events.ts'
import { endOrphanedRuns, keepLease, takeLease } from './features/runs/leases/keep-lease.ts'
import { workRunQueue } from './features/runs/queue/work-run-queue.ts'
import { type Repeated, repeat } from './shared/clock.ts'

interface StartUpInput {
  deps: Deps
  config: Config
  createProject: CreateProject
  /** Another server has just stopped serving, or lost its lock: its runs may still be about to end. */
  isSuccessor: boolean
  /** Whether the disk is too full for writes. */
  writesClosed(): boolean
}

interface QueueWork extends Repeated {
  /** False while it waits for room on the disk. */
  hasBegun(): boolean
}

export interface StartedWork {
  /** The line that shows the key of the first start; undefined if the database was not empty. */
  firstKey: string | undefined
  /** Takes no more runs once stopped. */
  queueWork: QueueWork
  /** Loops that end with the process. */
  upkeep: Repeated[]
}

const roomCheckMs = 1_000

export async function startUp(input: StartUpInput): Promise<StartedWork> {
  const { deps, config, createProject } = input
  const queueWork = await startQueueWork(input)
  // Last of what may fail: a key that is generated here must reach its operator.
  let firstKey: string | undefined
  await createFirstWorkspace(deps, {
    adminKey: config.adminKey,
    createProject,
    keepKey: (tenant) => {
      firstKey = keepAdminKey(config, tenant)
    },
  })
  const dropping = [dropEventLogs(deps), dropIdempotencyRecords(deps), purgeDeleted(deps), keepRetention(deps)]
  return { firstKey, queueWork, upkeep: [keepLease(deps), ...dropping] }
}

/** Recovery writes. On a full disk it waits for room, while the server answers reads. */
async function startQueueWork(input: StartUpInput): Promise<QueueWork> {
  const { deps, writesClosed } = input
  let queueWork: Repeated | undefined
  const begin = async () => {
    queueWork = await recover(input)
  }
  if (!writesClosed()) await begin()
  else deps.logger.warn('server.read-only', { reason: 'the disk of the database is almost full' })
  const looking = repeat(roomCheckMs, async () => {
    if (queueWork || writesClosed()) return
    await begin().catch((error: unknown) => {
      deps.logger.warn('server.recovery-failed', { reason: error instanceof Error ? error.message : String(error) })
    })
  })
  if (queueWork) await looking.stop()
  return {
    hasBegun: () => queueWork !== undefined,
    async stop() {
      await looking.stop()
      await queueWork?.stop()
    },
  }
}

async function recover({ deps, isSuccessor }: StartUpInput): Promise<Repeated> {
  if (!deps.runs.settings.sharesDatabase) await deps.runs.leases.endAll()
  // After an outage a living owner renews its lease first: a successor leaves the runs to `keepLease`, which waits for that.
  if (!isSuccessor) await endOrphanedRuns(deps)
  await releaseLostClaims(deps)
  await takeLease(deps)
  return workRunQueue(deps)
}
