/**
 * Reads a process's descendants, CPU time, memory and descriptors from Linux. An ended process has zero CPU time and
 * memory.
 */
import { readdirSync, readFileSync } from 'node:fs'

// USER_HZ is 100 on every Linux that Node runs on.
const msPerTick = 10

export function familyOf(root: number): number[] {
  const family = new Set([root])
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => [Number(pid), parentOf(Number(pid))]),
  )
  for (let grown = true; grown; ) {
    grown = false
    for (const [pid, parent] of parents) {
      if (family.has(parent) && !family.has(pid)) {
        family.add(pid)
        grown = true
      }
    }
  }
  return [...family]
}

/** Includes ended children. Otherwise a replaced child's CPU time would be lost. */
export function cpuMsOf(pid: number): number {
  const ticks = statOf(pid).slice(11, 15)
  return ticks.reduce((sum, field) => sum + Number(field), 0) * msPerTick
}

/** Returns the CPU time of all processes of this machine with that program name. */
export function cpuMsOfProgram(name: string): number {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && readIfThere(`/proc/${entry}/comm`).trim() === name)
    .reduce((sum, pid) => sum + cpuMsOf(Number(pid)), 0)
}

export interface ThreadTime {
  id: string
  /** The thread's name, or `child processes` for every thread of a descendant. */
  name: string
  cpuMs: number
}

export function threadTimesOf(root: number): ThreadTime[] {
  return familyOf(root).flatMap((pid) =>
    threadsOf(pid).map((thread) => {
      const file = `/proc/${pid}/task/${thread}`
      const title = thread === String(root) ? 'main thread' : readIfThere(`${file}/comm`).trim()
      const ticks = statFields(readIfThere(`${file}/stat`)).slice(11, 13)
      return {
        id: thread,
        name: pid === root ? title : 'child processes',
        cpuMs: ticks.reduce((sum, field) => sum + Number(field), 0) * msPerTick,
      }
    }),
  )
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Returns the proportional set size, which counts a shared page only once over all processes. */
export function residentBytesOf(pid: number): number {
  const text = readIfThere(`/proc/${pid}/smaps_rollup`)
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

// Returns the fields after the command's closing bracket, because the command may contain blanks. The fields are state,
// ppid, …, utime (12th), stime, cutime, cstime.
function statOf(pid: number): string[] {
  return statFields(readIfThere(`/proc/${pid}/stat`))
}

function statFields(text: string): string[] {
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1] ?? -1)
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
