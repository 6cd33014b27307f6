import { Server as NetServer } from 'node:net'
import type { Config } from './config.ts'
import { keepAdminKey } from './data-files.ts'
import { createFirstWorkspace } from './features/access/first-start.ts'
import { keepRetention } from './features/conversations/deletion/delete-conversations.ts'
import { purgeDeleted } from './features/conversations/deletion/purge-deleted.ts'
import type { Deps } from './features/deps.ts'
import { dropIdempotencyRecords, releaseLostClaims } from './features/idempotency/drop-records.ts'
import { addProject } from './features/projects/create-project.ts'
import { dropEventLogs } from './features/runs/events/stored-events.ts'
import { endOrphanedRuns, keepLease, takeLease } from './features/runs/leases/keep-lease.ts'
import { workRunQueue } from './features/runs/queue/work-run-queue.ts'
import type { Drain } from './http/operations/drain.ts'
import type { HttpServer } from './http/server.ts'
import { OperatorError, RunError } from './shared/app-error.ts'
import { type Repeated, repeat } from './shared/clock.ts'
import type { Logger } from './shared/logger.ts'

interface StartUpInput {
  deps: Deps
  config: Config
  /** True if another server has just stopped serving or lost its lock. Its runs may still be ending. */
  isSuccessor: boolean
  writesClosed(): boolean
}

interface QueueWork extends Repeated {
  /** False while it waits for disk space. */
  hasBegun(): boolean
}

export interface StartedWork {
  /** Shows the key of the first start; undefined if the database was not empty. */
  firstKey: string | undefined
  queueWork: QueueWork
  upkeep: Repeated[]
}

const roomCheckMs = 1_000

/** Ends a dead process's runs, starts the queue, and creates the first key. */
export async function startUp(input: StartUpInput): Promise<StartedWork> {
  const { deps, config } = input
  const queueWork = await startQueueWork(input)
  // The last step that can fail: the operator must see a key that is generated here.
  let firstKey: string | undefined
  await createFirstWorkspace(deps, {
    adminKey: config.adminKey,
    createProject: addProject,
    keepKey: (tenant) => {
      firstKey = keepAdminKey(config, tenant)
    },
  })
  const dropping = [dropEventLogs(deps), dropIdempotencyRecords(deps), purgeDeleted(deps), keepRetention(deps)]
  return { firstKey, queueWork, upkeep: [keepLease(deps), ...dropping] }
}

/** Recovery writes to the database. With a full disk it waits for space, while the server still serves reads. */
async function startQueueWork(input: StartUpInput): Promise<QueueWork> {
  const { deps, writesClosed } = input
  let queueWork: Repeated | undefined
  if (!writesClosed()) queueWork = await recover(input)
  else deps.logger.warn('server.read-only', { reason: 'the disk of the database is almost full' })
  const looking = repeat(roomCheckMs, async () => {
    if (queueWork || writesClosed()) return
    try {
      queueWork = await recover(input)
    } catch (error) {
      deps.logger.warn('server.recovery-failed', { reason: error instanceof Error ? error.message : String(error) })
    }
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
  // A successor skips this: the previous owner may still be alive, and `keepLease` lets it renew its lease first.
  if (!isSuccessor) await endOrphanedRuns(deps)
  await releaseLostClaims(deps)
  await takeLease(deps)
  return workRunQueue(deps)
}

const runsWaitMs = 30_000
/** The time limit for responses after the last run, because a slow reader must not keep the process alive. */
const answersWaitMs = 5_000
/** Limits the steps after the drain delay and the wait for runs: a hanging database must not block the exit. */
const closingWaitMs = 20_000
const lookMs = 20

interface ShutDownInput {
  server: HttpServer
  drain: Drain
  deps: { runs: Pick<Deps['runs'], 'active'>; logger: Logger }
  queueWork: { stop(): Promise<void> }
  config: Pick<Config, 'drainDelayMs' | 'databaseUrl'>
  /** True if the server serves the API. A waiting or superseded server has no callers to notify. */
  isServing: boolean
  /** Hands an exclusive database over to the next server. */
  handOver(): Promise<void>
  close(): Promise<void>
}

/**
 * Handles SIGTERM: stops accepting, waits for runs and responses, ends the remaining runs, and closes everything in
 * order.
 * @throws OperatorError on timeout. Acknowledged writes are stored; the next start ends the remaining runs.
 */
export async function shutDown(input: ShutDownInput, closingMs = runsWaitMs + closingWaitMs): Promise<void> {
  const { config, isServing } = input
  const drainDelayMs = isServing ? (config.drainDelayMs ?? (config.databaseUrl === undefined ? 0 : 5_000)) : 0
  const limitMs = drainDelayMs + closingMs
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    const message = `Not everything closed within ${limitMs / 1000} s after the signal: the process ends`
    timer = setTimeout(() => reject(new OperatorError(message)), limitMs)
  })
  try {
    await Promise.race([drainAndClose(input, drainDelayMs), deadline])
  } finally {
    clearTimeout(timer)
  }
}

async function drainAndClose(input: ShutDownInput, drainDelayMs: number): Promise<void> {
  const { server, drain, deps, queueWork, handOver, close } = input
  drain.begin()
  deps.logger.info('server.draining', { activeRuns: deps.runs.active.list().length })
  await pause(drainDelayMs)
  drain.refuseWork()
  await queueWork.stop()
  // HTTP's own close destroys connections with unsent bytes, and idle connections without a response.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  await requestsEnd(drain)
  // Runs in progress keep their lease, so the next server does not end them.
  await handOver()
  await runsAndAnswersEnd(drain, deps)
  await server.endConnections()
  await closed
  await close()
  deps.logger.info('server.closed')
}

/** Waits for accepted requests that do not wait for a run. They are short, so the handover waits for them. */
async function requestsEnd(drain: Drain): Promise<void> {
  const startedAt = performance.now()
  while (drain.openRequests() > 0 && performance.now() - startedAt < answersWaitMs) await pause(lookMs)
}

/** Polls, because a request that was accepted earlier may still start a run. */
async function runsAndAnswersEnd(drain: Drain, deps: ShutDownInput['deps']): Promise<void> {
  const startedAt = performance.now()
  let lastRunAt = startedAt
  for (;;) {
    const now = performance.now()
    const runs = deps.runs.active.list()
    if (runs.length > 0) lastRunAt = now
    else if (drain.openResponses() === 0 || now - lastRunAt >= answersWaitMs) return
    if (now - startedAt >= runsWaitMs) {
      for (const run of runs) run.abort(new RunError('worker_lost', 'The server stopped'))
    }
    await Promise.race([pause(lookMs), ...(runs.length > 0 ? [Promise.all(runs.map((run) => run.ended))] : [])])
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
