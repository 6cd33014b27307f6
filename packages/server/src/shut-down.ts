/** SIGTERM: stop accepting, let runs and answers end, give the rest up with a definite state, close everything in order. */
import { Server as NetServer } from 'node:net'
import type { Config } from './config.ts'
import type { Deps } from './features/deps.ts'
import type { Drain } from './http/operations/drain.ts'
import type { HttpServer } from './http/server.ts'
import { OperatorError, RunError } from './shared/app-error.ts'
import type { Logger } from './shared/logger.ts'

const runsWaitMs = 30_000
/** How long answers may still take when no run is left: a slow reader must not hold the process. */
const answersWaitMs = 5_000
/**
 * Time limit for the remaining steps, after the drain delay and the wait for runs: a hanging database must not block the exit.
 */
const closingWaitMs = 20_000
const lookMs = 20

interface ShutDownInput {
  server: HttpServer
  drain: Drain
  deps: { runs: Pick<Deps['runs'], 'active'>; logger: Logger }
  /** Takes no more runs once stopped. */
  queueWork: { stop(): Promise<void> }
  config: Pick<Config, 'drainDelayMs' | 'databaseUrl'>
  /** Whether the API is served: a server that waits, or was superseded, has no callers to notify. */
  isServing: boolean
  /** Lets the next server serve, on a database that one may have at a time. */
  handOver(): Promise<void>
  close(): Promise<void>
}

/** @throws OperatorError on timeout. Acknowledged writes are stored; the next start ends the remaining runs. */
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
  // Not http's own close: it destroys connections whose last bytes are still queued, and kept ones without an answer.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  await requestsEnd(drain)
  // Runs that are still on their way keep their lease: the next server leaves them alone.
  await handOver()
  await runsAndAnswersEnd(drain, deps)
  await server.endConnections()
  await closed
  await close()
  deps.logger.info('server.closed')
}

/** Accepted requests that wait for no run. They are short, so the handover waits for them. */
async function requestsEnd(drain: Drain): Promise<void> {
  const startedAt = performance.now()
  while (drain.openRequests() > 0 && performance.now() - startedAt < answersWaitMs) await pause(lookMs)
}

/** Looks again and again: a request that was accepted before the end may begin a run late. */
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
