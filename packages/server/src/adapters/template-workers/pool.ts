/** Runs each call in one of `size + 1` worker processes. A single workspace uses at most `size` of them. */
import type { EvaluationOwner } from '../../features/templates/template-engine.ts'
import { afterListening } from '../../shared/clock.ts'
import type { Logger } from '../../shared/logger.ts'
import { createFairQueue, type FairQueue, type QueuedJob } from './fair-queue.ts'
import { isolation } from './isolation.ts'
import type { WorkerRequest } from './protocol.ts'
import { type CallOutcome, startWorker, type WorkerProcess } from './worker-process.ts'

export interface PoolOptions {
  workerFile: string
  /** Maximum worker processes per workspace. One more is started. */
  size: number
  timeoutMs: number
  maxPerKey: number
  maxPerWorkspace: number
  log: Logger
}

export type PoolOutcome =
  | CallOutcome
  | { kind: 'overloaded' }
  | { kind: 'refused'; limitOf: 'API key' | 'workspace' }
  | { kind: 'canceled' }
  | { kind: 'closed' }

export interface PoolCall {
  request: Omit<WorkerRequest, 'id'>
  owner: EvaluationOwner
  isProven: boolean
}

export interface TemplatePool {
  call(call: PoolCall): Promise<PoolOutcome>
  close(): Promise<void>
}

interface Job extends QueuedJob {
  request: Omit<WorkerRequest, 'id'>
  signal: AbortSignal | undefined
  stopWaiting(): void
  settle(outcome: PoolOutcome): void
}

interface Slot {
  worker: WorkerProcess | undefined
  /** True while starting or evaluating. */
  isBusy: boolean
}

interface Pool {
  options: PoolOptions
  slots: Slot[]
  workers: Set<WorkerProcess>
  queue: FairQueue<Job>
  failedStarts: number
  isClosed: boolean
}

/** Maximum queue time, in multiples of the call timeout. A late tick counts once. */
const MAX_WAIT_FACTOR = 10
const MAX_RESTART_DELAY_MS = 5_000
/** Time for a canceled evaluation to finish. Replacing the process would cost about as much CPU. */
const CANCEL_GRACE_MS = 100

export function createTemplatePool(options: PoolOptions): TemplatePool {
  const { size, maxPerKey: perKey, maxPerWorkspace: perWorkspace } = options
  const pool: Pool = {
    options,
    slots: Array.from({ length: size + 1 }, () => ({ worker: undefined, isBusy: true })),
    workers: new Set(),
    queue: createFairQueue({ running: size, perKey, perWorkspace }),
    failedStarts: 0,
    isClosed: false,
  }
  for (const slot of pool.slots) void fill(pool, slot)
  return {
    call: (call) => enqueue(pool, call),
    close: () => close(pool),
  }
}

async function restart(pool: Pool, slot: Slot): Promise<WorkerProcess | undefined> {
  slot.worker = undefined
  while (!pool.isClosed) {
    const found = await isolation()
    if (pool.isClosed) break
    const worker = startWorker(pool.options.workerFile, found)
    pool.workers.add(worker)
    void worker.exited.then(() => pool.workers.delete(worker))
    if (await worker.ready) {
      pool.failedStarts = 0
      slot.worker = worker
      void worker.exited.then(() => {
        if (slot.worker === worker && !slot.isBusy) void fill(pool, slot)
      })
      return worker
    }
    if (pool.isClosed) return undefined
    pool.failedStarts += 1
    pool.options.log.error('template.worker-did-not-start', { attempt: pool.failedStarts })
    await new Promise((resolve) => setTimeout(resolve, Math.min(MAX_RESTART_DELAY_MS, 100 * pool.failedStarts)).unref())
  }
  return undefined
}

async function fill(pool: Pool, slot: Slot): Promise<void> {
  slot.isBusy = true
  if (await restart(pool, slot)) free(pool, slot)
}

function free(pool: Pool, slot: Slot): void {
  slot.isBusy = false
  dispatch(pool)
}

function enqueue(pool: Pool, { request, owner, isProven }: PoolCall): Promise<PoolOutcome> {
  const { workspaceId, apiKeyId, signal, isRun = false } = owner
  if (pool.isClosed) return Promise.resolve({ kind: 'closed' })
  if (signal?.aborted) return Promise.resolve({ kind: 'canceled' })
  return new Promise((resolve) => {
    const leave = (outcome: PoolOutcome): void => {
      if (pool.queue.drop(job)) job.settle(outcome)
    }
    const cancel = (): void => leave({ kind: 'canceled' })
    const job: Job = {
      ...{ request, workspaceId, apiKeyId, signal, isProven, isRun },
      stopWaiting: () => {},
      settle(outcome) {
        job.stopWaiting()
        signal?.removeEventListener('abort', cancel)
        resolve(outcome)
      },
    }
    const limitOf = pool.queue.add(job)
    if (limitOf) return resolve({ kind: 'refused', limitOf })
    signal?.addEventListener('abort', cancel, { once: true })
    const { timeoutMs } = pool.options
    // A started run has its own time limit.
    if (!isRun)
      job.stopWaiting = afterListening(timeoutMs * MAX_WAIT_FACTOR, () => leave({ kind: 'overloaded' }), timeoutMs)
    dispatch(pool)
  })
}

function dispatch(pool: Pool): void {
  for (const slot of pool.slots) {
    const { worker } = slot
    if (!worker || slot.isBusy) continue
    const job = pool.queue.take()
    if (!job) return
    void work(pool, slot, worker, job)
  }
}

async function work(pool: Pool, slot: Slot, worker: WorkerProcess, job: Job): Promise<void> {
  slot.isBusy = true
  job.stopWaiting()
  const outcome = await evaluate(pool, slot, worker, job)
  job.settle(outcome)
  const isAnswered = outcome.kind === 'reply'
  if (isAnswered) pool.queue.release(job)
  else pool.options.log.warn('template.worker-replaced', { reason: outcome.kind })
  if (slot.worker?.isWorn() !== false) {
    slot.worker?.kill()
    if (!(await restart(pool, slot))) return
  }
  // The crashed call keeps its place until the replacement is ready, so that one workspace cannot occupy all.
  if (!isAnswered) pool.queue.release(job)
  free(pool, slot)
}

/**
 * Earlier calls may have filled a used worker's memory, so its call is repeated once on a new worker. A call that
 * crashes a new worker is never repeated.
 */
async function evaluate(pool: Pool, slot: Slot, worker: WorkerProcess, job: Job): Promise<PoolOutcome> {
  const wasUsed = worker.isUsed()
  const outcome = await callOnce(pool, worker, job)
  if (outcome.kind !== 'died' || !wasUsed) return outcome
  pool.options.log.warn('template.call-repeated')
  const fresh = await restart(pool, slot)
  return fresh ? callOnce(pool, fresh, job) : { kind: 'closed' }
}

async function callOnce(pool: Pool, worker: WorkerProcess, { request, signal }: Job): Promise<PoolOutcome> {
  if (signal?.aborted) return { kind: 'canceled' }
  let graceTimer: NodeJS.Timeout | undefined
  const cancel = (): void => {
    graceTimer = setTimeout(() => worker.kill(), CANCEL_GRACE_MS)
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
  for (const job of pool.queue.dropAll()) job.settle({ kind: 'closed' })
  const ending = [...pool.workers].map((worker) => {
    worker.kill()
    return worker.exited
  })
  await Promise.all(ending)
}
