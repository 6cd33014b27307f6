import { Server as NetServer } from 'node:net'
import type { Config } from './config.ts'
import { keepAdminKey } from './data-files.ts'
import { createFirstWorkspace, type NewTenant } from './features/access/first-start.ts'
import { keepMeasuringStorage } from './features/access/workspace-storage.ts'
import { keepRetention } from './features/conversations/deletion/delete-conversations.ts'
import { purgeDeleted } from './features/conversations/deletion/purge-deleted.ts'
import type { Deps } from './features/deps.ts'
import { keepExperimentRetention } from './features/experiments/work/experiment-retention.ts'
import { keepExperiments } from './features/experiments/work/keep-experiments.ts'
import { dropIdempotencyRecords, releaseLostClaims } from './features/idempotency/idempotency-key.ts'
import { addProject } from './features/projects/save-project.ts'
import { dropEventLogs } from './features/runs/events/stored-events.ts'
import { endOrphanedRuns, keepLease, takeLease } from './features/runs/leases/keep-lease.ts'
import { workRunQueue } from './features/runs/queue/work-run-queue.ts'
import { makeLink } from './features/sessions/sign-in-link.ts'
import { keepStoringDays } from './features/stats/store-days.ts'
import type { Drain } from './http/operations/drain.ts'
import type { HttpServer } from './http/server.ts'
import { OperatorError, RunError } from './shared/app-error.ts'
import { type Repeated, repeat } from './shared/clock.ts'
import type { Logger } from './shared/telemetry.ts'

interface StartUpInput {
  deps: Deps
  config: Config
  /** True if the database has a workspace. */
  isUsed: boolean
  /** True if other servers may still have runs: this server waited for another one's lock, or is one of several. */
  isSuccessor: boolean
  writesClosed(): boolean
}

interface QueueWork extends Repeated {
  /** False until the recovery at the start has succeeded. */
  hasBegun(): boolean
}

export interface StartedWork {
  /** The message about the first admin key. Undefined if the database already had a workspace. */
  firstKey: string | undefined
  /** The code of a sign-in link for the first admin key. */
  firstCode: string | undefined
  queueWork: QueueWork
  upkeep: Repeated[]
}

const roomCheckMs = 1_000
/** `main.ts` prints this time, in minutes. */
const firstLinkSeconds = 900

/** Starts the recovery, the run queue and the upkeep. Creates the first workspace if there is none. */
export async function startUp(input: StartUpInput): Promise<StartedWork> {
  const { deps, config, isUsed } = input
  const queueWork = await startQueueWork(input)
  // No later step here may fail, because the operator must see a generated key.
  let firstKey: string | undefined
  const first = {
    adminKey: config.adminKey,
    createProject: addProject,
    keepKey: (tenant: NewTenant) => {
      firstKey = keepAdminKey(config, tenant)
    },
  }
  const tenant = isUsed ? null : await createFirstWorkspace(deps, first)
  const dropping = [
    dropEventLogs(deps),
    dropIdempotencyRecords(deps),
    purgeDeleted(deps),
    keepRetention(deps),
    keepStoringDays(deps),
    keepExperimentRetention(deps),
  ]
  const firstCode = tenant && config.console ? await firstLink(deps, tenant) : undefined
  return { firstKey, firstCode, queueWork, upkeep: [keepLease(deps), ...dropping, ...keepMeasuringStorage(deps)] }
}

/** The first sign-in also works with the key, so a failure is only logged. */
async function firstLink(deps: Deps, { workspaceId, apiKeyId }: NewTenant): Promise<string | undefined> {
  try {
    const { code } = await makeLink(deps, { workspaceId, apiKeyId, ttlSeconds: firstLinkSeconds })
    return code
  } catch (error) {
    deps.logger.warn('server.no-first-link', { reason: error instanceof Error ? error.name : 'unknown' })
    return undefined
  }
}

/** The recovery writes to the database, so it waits while the disk is almost full. The server still serves reads. */
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
  // The previous server's runs may still be ending. `keepLease` gives their owner time to renew its lease first.
  if (!isSuccessor) await endOrphanedRuns(deps)
  await releaseLostClaims(deps)
  await takeLease(deps)
  const working = await workRunQueue(deps, () => deps.experiments.loop.wake())
  const experiments = keepExperiments(deps)
  return {
    async stop() {
      await experiments.stop()
      await working.stop()
    },
  }
}

/**
 * Limits the wait for requests before the handover, and for responses after the last run. A slow reader must not keep
 * the process alive.
 */
const answersWaitMs = 5_000
/** Limits all steps besides the drain delay and the wait for runs. A hanging database must not block the exit. */
const closingWaitMs = 20_000
const lookMs = 20

interface ShutDownInput {
  server: HttpServer
  drain: Drain
  deps: { runs: Pick<Deps['runs'], 'active'>; logger: Logger }
  queueWork: { stop(): Promise<void> }
  config: Pick<Config, 'drainDelayMs' | 'drainSeconds' | 'databaseUrl'>
  /** True if the server serves the API. Otherwise, for example after another server took over, the drain delay is 0. */
  isServing: boolean
  /** Releases the replica lock, if there is one, so that the next server can start. */
  handOver(): Promise<void>
  close(): Promise<void>
}

/**
 * Shuts the server down: stops accepting, waits for runs and responses, ends the remaining runs, and closes everything
 * in order.
 * @throws OperatorError on timeout. Acknowledged writes are stored; the next start ends the remaining runs.
 */
export async function shutDown(input: ShutDownInput, closingMs = closingWaitMs): Promise<void> {
  const { config, isServing } = input
  const drainDelayMs = isServing ? (config.drainDelayMs ?? (config.databaseUrl === undefined ? 0 : 5_000)) : 0
  const limitMs = drainDelayMs + config.drainSeconds * 1000 + closingMs
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    const message = `Shutdown did not finish within ${limitMs / 1000} s after the signal; exiting`
    timer = setTimeout(() => reject(new OperatorError(message)), limitMs)
  })
  try {
    await Promise.race([drainAndClose(input, drainDelayMs), deadline])
  } finally {
    clearTimeout(timer)
  }
}

async function drainAndClose(input: ShutDownInput, drainDelayMs: number): Promise<void> {
  const { server, drain, deps, config, queueWork, handOver, close } = input
  drain.begin()
  deps.logger.info('server.draining', { activeRuns: deps.runs.active.list().length })
  await pause(drainDelayMs)
  drain.refuseWork()
  await queueWork.stop()
  // `http.Server.close` would destroy idle connections, which may have unsent bytes or a request in flight.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  // Requests that do not wait for a run are usually short.
  const closingAt = performance.now()
  while (drain.openRequests() > 0 && performance.now() - closingAt < answersWaitMs) await pause(lookMs)
  // Active runs keep their lease after the handover, so the next server does not end them.
  await handOver()
  await runsAndAnswersEnd(drain, deps, config.drainSeconds * 1000)
  await server.endConnections()
  await closed
  await close()
  deps.logger.info('server.closed')
}

/** Polls, because an open request may still start a run. After `runsWaitMs`, aborts the active runs. */
async function runsAndAnswersEnd(drain: Drain, deps: ShutDownInput['deps'], runsWaitMs: number): Promise<void> {
  const startedAt = performance.now()
  let lastRunAt = startedAt
  for (;;) {
    const now = performance.now()
    const runs = deps.runs.active.list()
    if (runs.length > 0) lastRunAt = now
    else if (drain.openResponses() === 0 || now - lastRunAt >= answersWaitMs) return
    const overdueMs = now - startedAt - runsWaitMs
    for (const run of overdueMs >= 0 ? runs : []) {
      run.abort(new RunError('worker_lost', 'The server stopped'))
      // A run whose end cannot be stored has no more than this time.
      if (overdueMs >= answersWaitMs) run.giveUp()
    }
    await Promise.race([pause(lookMs), ...(runs.length > 0 ? [Promise.all(runs.map((run) => run.ended))] : [])])
  }
}

// Uses the global timer, because tests replace it.
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
