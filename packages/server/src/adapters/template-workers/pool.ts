/** Runs each call in one of `poolSize + 1` worker processes. A single workspace uses at most `poolSize` of them. */
import { setTimeout as delay } from 'node:timers/promises'
import { EvaluationCanceled, type EvaluationOwner } from '../../features/templates/template-engine.ts'
import { refuse } from '../../shared/app-error.ts'
import type { Logger } from '../../shared/logger.ts'
import { createFairQueue, type FairQueue, type Turn, tooMany, waitForTurn } from './fair-queue.ts'
import { isolation } from './isolation.ts'
import type { WorkerCall } from './protocol.ts'
import { type CallOutcome, startWorker, type WorkerProcess } from './worker-process.ts'

export interface PoolOptions {
  workerFile: string
  poolSize: number
  timeoutMs: number
  maxPerKey: number
  maxPerWorkspace: number
  log: Logger
  metrics: PoolMetrics
}

export interface PoolMetrics {
  /** Called when an evaluation has ended in any way, except before its turn. */
  evaluationEnded(evaluation: { operation: string; waitSeconds: number; seconds: number }): void
  workerDied(reason: string): void
}

export interface PoolCall {
  request: WorkerCall
  owner: EvaluationOwner
  isProven: boolean
}

export type TemplatePool = ReturnType<typeof createTemplatePool>

interface Slot {
  worker?: WorkerProcess | undefined
}

type Ended = CallOutcome | { kind: 'canceled' } | { kind: 'closed' }

interface Pool {
  options: PoolOptions
  workers: Set<WorkerProcess>
  queue: FairQueue<Turn<Slot, Ended>>
  /** Each function wakes one slot that found no job. */
  sleeping: (() => void)[]
  isClosed: boolean
}

export function createTemplatePool(options: PoolOptions) {
  const { poolSize: running, maxPerKey: perKey, maxPerWorkspace: perWorkspace } = options
  const queue = createFairQueue<Turn<Slot, Ended>>({ running, perKey, perWorkspace })
  const pool: Pool = { options, workers: new Set(), queue, sleeping: [], isClosed: false }
  for (let slots = 0; slots <= running; slots += 1) void serve(pool)
  return {
    call: (call: PoolCall) => callInTurn(pool, call),
    waiting: queue.waiting,
    close: () => close(pool),
  }
}

/** Serves one call after another until the pool is closed. */
async function serve(pool: Pool): Promise<void> {
  const slot: Slot = {}
  let crashed: Turn<Slot, Ended> | undefined
  for (;;) {
    if (slot.worker?.isWorn() !== false) await restart(pool, slot)
    if (!slot.worker) return
    // A crashed call counts as running until the replacement is ready, so that one workspace cannot occupy all slots.
    if (crashed) release(pool, crashed)
    crashed = undefined
    const turn = pool.queue.take()
    if (!turn) {
      await new Promise<void>((wake) => pool.sleeping.push(wake))
      continue
    }
    const { kind } = await turn.begin(slot)
    if (kind === 'reply') release(pool, turn)
    else {
      pool.options.log.warn('template.worker-replaced', { reason: kind })
      pool.options.metrics.workerDied(kind)
      crashed = turn
    }
  }
}

function release(pool: Pool, turn: Turn<Slot, Ended>): void {
  pool.queue.release(turn)
  wake(pool)
}

function wake({ sleeping }: Pool): void {
  for (const wakeSlot of sleeping.splice(0)) wakeSlot()
}

async function restart(pool: Pool, slot: Slot): Promise<void> {
  slot.worker?.kill()
  slot.worker = undefined
  const { workerFile, log, metrics } = pool.options
  const found = await isolation()
  for (let attempt = 1; !pool.isClosed; attempt += 1) {
    const worker = startWorker(workerFile, found)
    pool.workers.add(worker)
    void worker.exited.then(() => {
      pool.workers.delete(worker)
      wake(pool)
    })
    if (await worker.ready) {
      slot.worker = worker
      return
    }
    if (pool.isClosed) return
    log.error('template.worker-did-not-start', { attempt })
    metrics.workerDied('start')
    await delay(Math.min(5_000, 100 * attempt), undefined, { ref: false })
  }
}

/** @throws AppError ServiceUnavailableError if the pool is busy or closed; EvaluationCanceled after a disconnect. */
async function callInTurn(pool: Pool, call: PoolCall): Promise<CallOutcome> {
  for (;;) {
    const outcome = await callOneTurn(pool, call)
    if (outcome.kind === 'closed') throw refuse('server-stopping')
    if (outcome.kind === 'canceled') throw new EvaluationCanceled()
    if (outcome.kind !== 'starved') return outcome
    // The answers of a started run are paid for, so only the run's own limits end it.
    if (!call.owner.isRun || !call.owner.signal) throw tooMany('server')
  }
}

async function callOneTurn(pool: Pool, call: PoolCall): Promise<Ended> {
  if (pool.isClosed) return { kind: 'closed' }
  const { owner, isProven } = call
  // A started run has its own time limit, so its queue time is not limited here.
  const timeoutMs = owner.isRun ? undefined : pool.options.timeoutMs
  const queuedAt = performance.now()
  const evaluateInTurn = async (slot: Slot): Promise<Ended> => {
    const begunAt = performance.now()
    const ended = await evaluate(pool, slot, call)
    const waitSeconds = (begunAt - queuedAt) / 1000
    const seconds = (performance.now() - begunAt) / 1000
    pool.options.metrics.evaluationEnded({ operation: call.request.operation, waitSeconds, seconds })
    return ended
  }
  const waiting = waitForTurn(pool.queue, { ...owner, isProven }, evaluateInTurn, timeoutMs)
  wake(pool)
  return waiting
}

/**
 * If a used worker process died, repeats the call once in a new one, because earlier calls may have filled its memory.
 * A call that crashes a new worker process is never repeated.
 */
async function evaluate(pool: Pool, slot: Slot, call: PoolCall): Promise<Ended> {
  const wasUsed = slot.worker?.isUsed()
  const outcome = await callOnce(pool, slot, call)
  if (outcome.kind !== 'died' || !wasUsed) return outcome
  pool.options.log.warn('template.call-repeated')
  pool.options.metrics.workerDied(outcome.kind)
  await restart(pool, slot)
  return callOnce(pool, slot, call)
}

async function callOnce(pool: Pool, { worker }: Slot, { request, owner: { signal } }: PoolCall): Promise<Ended> {
  if (!worker) return { kind: 'closed' }
  if (signal?.aborted) return { kind: 'canceled' }
  let graceTimer: NodeJS.Timeout | undefined
  const cancel = (): void => {
    // Gives the evaluation time to finish. Replacing the process would cost about as much CPU.
    graceTimer = setTimeout(() => worker.kill(), 100)
  }
  signal?.addEventListener('abort', cancel, { once: true })
  const outcome = await worker.call(request, pool.options.timeoutMs)
  signal?.removeEventListener('abort', cancel)
  clearTimeout(graceTimer)
  if (outcome.kind === 'reply') return outcome
  if (pool.isClosed) return { kind: 'closed' }
  return signal?.aborted ? { kind: 'canceled' } : outcome
}

async function close(pool: Pool): Promise<void> {
  pool.isClosed = true
  for (const turn of pool.queue.dropAll()) turn.fail(refuse('server-stopping'))
  const ending = [...pool.workers]
  for (const worker of ending) worker.kill()
  await Promise.all(ending.map(({ exited }) => exited))
}
