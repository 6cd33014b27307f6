import type { EvaluationOwner } from '../../features/templates/template-engine.ts'
import type { Logger } from '../../shared/logger.ts'
import { afterListening } from '../../shared/time/listening-time.ts'
import type { ChildRequest } from './protocol.ts'
import { type CallOutcome, type SandboxedChild, startChild } from './sandboxed-child.ts'
import { createFairQueue, type FairQueue, type QueuedJob } from './scheduling/fair-queue.ts'

export interface PoolOptions {
  childFile: string
  /** Worker processes that one workspace may use at once; one more is started. */
  size: number
  timeoutMs: number
  /** Queued and running evaluations of one API key. */
  maxPerKey: number
  maxPerWorkspace: number
  log: Logger
}

export type PoolOutcome =
  | CallOutcome
  /** It waited too long for a worker process. */
  | { kind: 'overloaded' }
  | { kind: 'refused'; limitOf: 'API key' | 'workspace' }
  | { kind: 'canceled' }
  | { kind: 'closed' }

export interface PoolCall {
  request: Omit<ChildRequest, 'id'>
  owner: EvaluationOwner
  /** The same text was answered before: new texts never occupy all worker processes of its workspace. */
  isProven: boolean
}

export interface TemplatePool {
  call(call: PoolCall): Promise<PoolOutcome>
  close(): Promise<void>
}

interface Job extends QueuedJob {
  request: Omit<ChildRequest, 'id'>
  signal: AbortSignal | undefined
  /** Ends the wait for a worker process. */
  stopWaiting(): void
  settle(outcome: PoolOutcome): void
}

interface Slot {
  child: SandboxedChild | undefined
  /** Starting or working. */
  isBusy: boolean
}

interface Pool {
  options: PoolOptions
  slots: Slot[]
  children: Set<SandboxedChild>
  queue: FairQueue<Job>
  failedStarts: number
  isClosed: boolean
}

/** Limits the wait for a worker process, in call times; a tick that comes late counts once. */
const MAX_WAIT_FACTOR = 10
const MAX_RESTART_DELAY_MS = 5_000
/** Replacing a process costs about as much CPU, so a canceled evaluation may first use that much. */
const CANCEL_GRACE_MS = 100

/** Runs each call in one of `size + 1` worker processes, of which a single workspace uses at most `size`. */
export function createTemplatePool(options: PoolOptions): TemplatePool {
  const { size, maxPerKey: perKey, maxPerWorkspace: perWorkspace } = options
  const pool: Pool = {
    options,
    slots: Array.from({ length: size + 1 }, () => ({ child: undefined, isBusy: true })),
    children: new Set(),
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

/** Puts a new worker process into a slot; undefined when the pool was closed meanwhile. */
async function restart(pool: Pool, slot: Slot): Promise<SandboxedChild | undefined> {
  slot.child = undefined
  while (!pool.isClosed) {
    const child = startChild(pool.options.childFile)
    pool.children.add(child)
    void child.exited.then(() => pool.children.delete(child))
    if (await child.ready) {
      pool.failedStarts = 0
      slot.child = child
      void child.exited.then(() => {
        if (slot.child === child && !slot.isBusy) void fill(pool, slot)
      })
      return child
    }
    if (pool.isClosed) return undefined
    pool.failedStarts += 1
    pool.options.log.error('template.child-did-not-start', { attempt: pool.failedStarts })
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
    // A run that has begun waits for its turn: the time limit of the run ends it.
    if (!isRun)
      job.stopWaiting = afterListening(timeoutMs * MAX_WAIT_FACTOR, () => leave({ kind: 'overloaded' }), timeoutMs)
    dispatch(pool)
  })
}

function dispatch(pool: Pool): void {
  for (const slot of pool.slots) {
    const { child } = slot
    if (!child || slot.isBusy) continue
    const job = pool.queue.take()
    if (!job) return
    void work(pool, slot, child, job)
  }
}

async function work(pool: Pool, slot: Slot, child: SandboxedChild, job: Job): Promise<void> {
  slot.isBusy = true
  job.stopWaiting()
  const outcome = await evaluate(pool, slot, child, job)
  job.settle(outcome)
  const isAnswered = outcome.kind === 'reply'
  if (isAnswered) pool.queue.release(job)
  else pool.options.log.warn('template.child-replaced', { reason: outcome.kind })
  if (slot.child?.isWorn() !== false) {
    slot.child?.kill()
    if (!(await restart(pool, slot))) return
  }
  // A call that ended its worker keeps its place until the replacement is ready, so one workspace cannot use up all workers.
  if (!isAnswered) pool.queue.release(job)
  free(pool, slot)
}

/**
 * A worker process that served others before may have died of what they left behind: its call is repeated once on a new
 * one. A call that ends a new process is never repeated.
 */
async function evaluate(pool: Pool, slot: Slot, child: SandboxedChild, job: Job): Promise<PoolOutcome> {
  const wasUsed = child.isUsed()
  const outcome = await callOnce(pool, child, job)
  if (outcome.kind !== 'died' || !wasUsed) return outcome
  pool.options.log.warn('template.call-repeated')
  const fresh = await restart(pool, slot)
  return fresh ? callOnce(pool, fresh, job) : { kind: 'closed' }
}

async function callOnce(pool: Pool, child: SandboxedChild, { request, signal }: Job): Promise<PoolOutcome> {
  if (signal?.aborted) return { kind: 'canceled' }
  let graceTimer: NodeJS.Timeout | undefined
  const cancel = (): void => {
    graceTimer = setTimeout(() => child.kill(), CANCEL_GRACE_MS)
  }
  signal?.addEventListener('abort', cancel, { once: true })
  const outcome = await child.call(request, pool.options.timeoutMs)
  signal?.removeEventListener('abort', cancel)
  clearTimeout(graceTimer)
  if (outcome.kind === 'reply') return outcome
  if (pool.isClosed) return { kind: 'closed' }
  return signal?.aborted ? { kind: 'canceled' } : outcome
}

async function close(pool: Pool): Promise<void> {
  pool.isClosed = true
  for (const job of pool.queue.dropAll()) job.settle({ kind: 'closed' })
  const ending = [...pool.children].map((child) => {
    child.kill()
    return child.exited
  })
  await Promise.all(ending)
}
