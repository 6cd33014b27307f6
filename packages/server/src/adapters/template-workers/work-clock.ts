/** Limits a call's CPU time instead of elapsed time, so that a busy machine does not fail a valid prompt. */
import { readFileSync } from 'node:fs'

export interface CpuShare {
  usedMs: number
  isRunnable: boolean
}

/** Returns undefined if the process does not exist or the system is not Linux. */
export function cpuShareOf(pid: number | undefined): CpuShare | undefined {
  if (pid === undefined) return undefined
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the command's closing bracket, user time is the 12th field and system time the 13th. A process that waits
    // for a disk (D) or was stopped (T) counts as runnable, like one that runs or waits for a core (R).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // A tick is 10 ms, because USER_HZ is 100 on every Linux that Node supports.
    return { usedMs: (Number(fields[11]) + Number(fields[12])) * 10, isRunnable: /[RDT]/.test(fields[0] ?? '') }
  } catch {
    return undefined
  }
}

/** `spent`: the worker process used its time or is stuck. `starved`: the machine was too busy to give it its time. */
export type WorkEnd = 'spent' | 'starved'

interface WorkClockOptions {
  /** Milliseconds of CPU time, or of elapsed time if the system does not report CPU time. */
  limitMs: number
  shareOf: () => CpuShare | undefined
  onEnd: (end: WorkEnd) => void
}

/**
 * Maximum wait, in multiples of `limitMs`. A late check counts only as its planned time, because the worker process may
 * have been paused with this process.
 */
const MAX_WAIT_FACTOR = 10
/**
 * The share of `limitMs` between two checks of a sleeping worker process. A worker process that used no CPU time in
 * between is stuck.
 */
const IDLE_SHARE = 0.2
const MIN_LOOK_MS = 20
/** Latest time of the first CPU reading. A reading costs as much as a small render, so shorter calls skip it. */
const FIRST_LOOK_MS = 20

/** Calls `onEnd` once, after `limitMs` at the earliest. Returns a function that stops the clock. */
export function startWorkClock({ limitMs, shareOf, onEnd }: WorkClockOptions): () => void {
  const firstLookMs = Math.min(FIRST_LOOK_MS, limitMs / 10)
  let first: CpuShare | undefined
  let isStopped = false
  let waitedMs = firstLookMs
  /** The CPU time of the worker process at the last check, if it was asleep then. */
  let asleepAtMs: number | undefined

  const endOf = (now: CpuShare | undefined): WorkEnd | undefined => {
    if (first === undefined || now === undefined) return 'spent'
    const usedMs = now.usedMs - first.usedMs
    if (usedMs >= limitMs || (!now.isRunnable && usedMs === asleepAtMs)) return 'spent'
    return waitedMs >= limitMs * MAX_WAIT_FACTOR ? 'starved' : undefined
  }
  const look = (): void => {
    if (isStopped) return
    const now = shareOf()
    const end = endOf(now)
    if (end !== undefined) {
      onEnd(end)
      return
    }
    const usedMs = (now?.usedMs ?? 0) - (first?.usedMs ?? 0)
    asleepAtMs = now?.isRunnable === true ? undefined : usedMs
    lookIn(asleepAtMs === undefined ? Math.max(MIN_LOOK_MS, limitMs - usedMs) : limitMs * IDLE_SHARE)
  }
  let timer: NodeJS.Timeout
  const lookIn = (ms: number): void => {
    waitedMs += ms
    // Handles pending input before the check, because a reply may have arrived while this process was delayed.
    timer = setTimeout(() => setImmediate(look), ms)
  }
  timer = setTimeout(() => {
    first = shareOf()
    lookIn(limitMs - firstLookMs)
  }, firstLookMs)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
