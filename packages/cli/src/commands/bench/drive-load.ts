import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

export interface Load {
  concurrency: number
  /** The load ends after this many runs. */
  runs?: number | undefined
  /** No run starts later than this. */
  durationMs?: number | undefined
}

/** A run as the load sees it. A rejected outcome ends the load. */
export interface DrivenRun {
  outcome: Promise<{ kind: string }>
  stop(): Promise<unknown>
}

/** How long the load waits for active runs before it stops them. */
export interface EndWaits {
  afterEndMs: number
  /** Also bounds the wait for the server's answers to the stops. */
  afterInterruptMs: number
}

const defaultWaits: EndWaits = { afterEndMs: 30_000, afterInterruptMs: 5000 }
const LONGEST_TIMER_MS = 2 ** 31 - 1

// Without a pause, a server that refuses at once would get as many requests as this machine can send.
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000

/**
 * Keeps `concurrency` runs active until the load ends or `signal` aborts. Then waits for the active runs, and stops
 * those that take too long.
 */
export async function driveLoad(
  { concurrency, runs = Number.POSITIVE_INFINITY, durationMs = LONGEST_TIMER_MS }: Load,
  start: () => DrivenRun,
  signal: AbortSignal,
  { afterEndMs, afterInterruptMs } = defaultWaits,
): Promise<void> {
  const active = new Set<DrivenRun>()
  const over = new AbortController()
  const ended = AbortSignal.any([over.signal, signal])
  // Every pausing slot adds a listener. Node warns beyond 10.
  setMaxListeners(0, ended)
  let started = 0
  const slot = async (): Promise<void> => {
    let failures = 0
    while (started < runs && !ended.aborted) {
      started += 1
      const run = start()
      active.add(run)
      const { kind } = await run.outcome
      active.delete(run)
      failures = kind === 'failed' ? failures + 1 : 0
      if (failures > 0) await pause(failures, ended)
    }
  }
  const slots = Promise.all(Array.from({ length: Math.min(concurrency, runs) }, slot))
  await settlesWithin(slots, durationMs, signal)
  over.abort()
  if (!signal.aborted && (await settlesWithin(slots, afterEndMs, signal))) return
  if (signal.aborted && (await settlesWithin(slots, afterInterruptMs))) return
  await settlesWithin(Promise.all([...active].map((run) => run.stop())), afterInterruptMs)
  await slots
}

/** Doubles with each failure in a row. */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
  await delay(ms, undefined, { signal }).catch(() => {})
}

/** Returns false after `ms`, or when `signal` aborts. */
async function settlesWithin(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> {
  const settled = new AbortController()
  const late = delay(ms, false, { signal: AbortSignal.any(signal ? [settled.signal, signal] : [settled.signal]) })
  try {
    return await Promise.race([work.then(() => true), late.catch(() => false)])
  } finally {
    settled.abort()
  }
}
