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
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { usedMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK, isRunnable: fields[0] === 'R' }
  } catch {
    return undefined
  }
}

/** A process that wants to work and got less than half of the time: the machine is busy, the process is not guilty. */
export function isStarved(before: CpuShare | undefined, now: CpuShare | undefined, elapsedMs: number): boolean {
  return before !== undefined && now?.isRunnable === true && now.usedMs - before.usedMs < elapsedMs / 2
}
