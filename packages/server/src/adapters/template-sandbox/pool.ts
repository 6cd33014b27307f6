import type { Logger } from '../../shared/logger.ts'
import { afterListening } from '../../shared/time/listening-time.ts'
import type { ChildRequest } from './protocol.ts'
import { type CallOutcome, type SandboxedChild, startChild } from './sandboxed-child.ts'

export interface PoolOptions {
  childFile: string
  size: number
  timeoutMs: number
  log: Logger
}

export type PoolOutcome = CallOutcome | { kind: 'overloaded' } | { kind: 'closed' }

export interface TemplatePool {
  /** `isProven`: the same text was answered before. Such calls always have a child that no new text can occupy. */
  call(request: Omit<ChildRequest, 'id'>, isProven: boolean): Promise<PoolOutcome>
  close(): Promise<void>
}

interface Job {
  request: Omit<ChildRequest, 'id'>
  isProven: boolean
  stopWaiting(): void
  settle(outcome: PoolOutcome): void
}

interface Slot {
  child: SandboxedChild | undefined
  /** Starting or working. */
  isBusy: boolean
  provenOnly: boolean
}

interface Pool {
  options: PoolOptions
  slots: Slot[]
  spare: SandboxedChild | undefined
  children: Set<SandboxedChild>
  queue: Job[]
  failedStarts: number
  isClosed: boolean
}

/** How long a call may wait for a child, in call times: one that ends late, since the machine stood still, counts once. */
const MAX_WAIT_FACTOR = 10
const MAX_RESTART_DELAY_MS = 5_000

/** Runs each call in one of `size` children; a further one is started ahead for the place of one that ends. */
export function createTemplatePool(options: PoolOptions): TemplatePool {
  const slots = Array.from({ length: options.size }, (_, index) => ({
    child: undefined,
    isBusy: false,
    provenOnly: index > 0 && index === options.size - 1,
  }))
  const pool: Pool = {
    options,
    slots,
    spare: undefined,
    children: new Set(),
    queue: [],
    failedStarts: 0,
    isClosed: false,
  }
  for (const slot of slots) void fill(pool, slot)
  pool.spare = start(pool)
  return {
    call: (request, isProven) => enqueue(pool, request, isProven),
    close: () => close(pool),
  }
}

function start(pool: Pool): SandboxedChild {
  const child = startChild(pool.options.childFile)
  pool.children.add(child)
  void child.exited.then(() => pool.children.delete(child))
  return child
}

/** Puts the spare child, or a new one, into an empty slot, and starts the next spare. */
async function fill(pool: Pool, slot: Slot): Promise<void> {
  slot.isBusy = true
  const child = pool.spare ?? start(pool)
  pool.spare = pool.spare ? start(pool) : undefined
  slot.child = child
  void child.exited.then(() => refill(pool, slot, child))
  if (!(await child.ready) || pool.isClosed) return
  pool.failedStarts = 0
  slot.isBusy = false
  dispatch(pool)
}

async function refill(pool: Pool, slot: Slot, ended: SandboxedChild): Promise<void> {
  if (pool.isClosed || slot.child !== ended) return
  slot.child = undefined
  slot.isBusy = true
  if (!(await ended.ready)) {
    pool.failedStarts += 1
    pool.options.log.error('template.child-did-not-start', { attempt: pool.failedStarts })
    await new Promise((resolve) => setTimeout(resolve, Math.min(MAX_RESTART_DELAY_MS, 100 * pool.failedStarts)).unref())
    if (pool.isClosed) return
  }
  await fill(pool, slot)
}

function enqueue(pool: Pool, request: Omit<ChildRequest, 'id'>, isProven: boolean): Promise<PoolOutcome> {
  if (pool.isClosed) return Promise.resolve({ kind: 'closed' })
  return new Promise((resolve) => {
    const giveUp = (): void => {
      pool.queue = pool.queue.filter((waiting) => waiting !== job)
      resolve({ kind: 'overloaded' })
    }
    const { timeoutMs } = pool.options
    const stopWaiting = afterListening(timeoutMs * MAX_WAIT_FACTOR, giveUp, timeoutMs)
    const job: Job = { request, isProven, stopWaiting, settle: resolve }
    pool.queue.push(job)
    dispatch(pool)
  })
}

function dispatch(pool: Pool): void {
  for (const slot of pool.slots.toReversed()) {
    const { child } = slot
    if (!child || slot.isBusy) continue
    const job = takeJob(pool, slot)
    if (job) void work(pool, slot, child, job)
  }
}

/** Proven texts first: they are short, and new ones may each take the whole time. */
function takeJob(pool: Pool, slot: Slot): Job | undefined {
  const proven = pool.queue.findIndex((job) => job.isProven)
  const index = slot.provenOnly ? proven : pool.queue.findIndex((job) => !job.isProven || pool.slots.length === 1)
  const chosen = index === -1 ? proven : index
  return chosen === -1 ? undefined : pool.queue.splice(chosen, 1)[0]
}

async function work(pool: Pool, slot: Slot, child: SandboxedChild, job: Job): Promise<void> {
  slot.isBusy = true
  job.stopWaiting()
  const outcome = await child.call(job.request, pool.options.timeoutMs)
  job.settle(outcome)
  if (outcome.kind !== 'reply') {
    pool.options.log.warn('template.child-replaced', { reason: outcome.kind })
    return
  }
  if (child.isWorn()) return child.kill()
  slot.isBusy = false
  dispatch(pool)
}

async function close(pool: Pool): Promise<void> {
  pool.isClosed = true
  for (const job of pool.queue.splice(0)) {
    job.stopWaiting()
    job.settle({ kind: 'closed' })
  }
  const ending = [...pool.children].map((child) => {
    child.kill()
    return child.exited
  })
  await Promise.all(ending)
}
