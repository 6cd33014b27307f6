/** The time limit of one call, in time that the child could work: a busy machine must not make a prompt look endless. */
import { readFileSync } from 'node:fs'

/** USER_HZ is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10

/** Milliseconds of CPU used so far, and whether the process wants more right now. */
export interface CpuShare {
  usedMs: number
  isRunnable: boolean
}

/** Undefined where the system does not tell (no Linux). */
export function cpuShareOf(pid: number | undefined): CpuShare | undefined {
  if (pid === undefined) return undefined
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the command's closing bracket: state, ppid, …; user time is the 12th field, system time the 13th.
    // Who waits for a disk (D) will work on, as who waits for a core does (R).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { usedMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK, isRunnable: /[RD]/.test(fields[0] ?? '') }
  } catch {
    return undefined
  }
}

/** `spent`: the child had its time. `starved`: it never came to work, and nobody knows what it would have needed. */
export type WorkEnd = 'spent' | 'starved'

export interface WorkClockOptions {
  /** Of CPU time; of the clock's where the system does not tell. */
  limitMs: number
  shareOf: () => CpuShare | undefined
  onEnd: (end: WorkEnd) => void
}

/**
 * A child that is kept waiting is ended after so many times its limit. A look that comes late counts for the time it was
 * set for: while this process stood still, the child may have stood still with it.
 */
const MAX_WAIT_FACTOR = 10
/** A child that sleeps for so long, of the limit, waits for nothing that could come. */
const IDLE_SHARE = 0.2
/** Between two looks at a child that has almost used up its time. */
const MIN_LOOK_MS = 20
/** Asking the system costs as much as a small render: a call that is over by then is not asked about. */
const FIRST_LOOK_MS = 20

/** Starts the clock of a call; the function that is returned stops it. Never ends a call before `limitMs` have passed. */
export function startWorkClock({ limitMs, shareOf, onEnd }: WorkClockOptions): () => void {
  const firstLookMs = Math.min(FIRST_LOOK_MS, limitMs / 10)
  let first: CpuShare | undefined
  let isStopped = false
  let waitedMs = firstLookMs
  /** What it had used when it was last found asleep. */
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
    // When this process itself had to wait, the answer may be there, unread: what has arrived is read first.
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
