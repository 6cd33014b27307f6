/** A process under measurement: started on core 0, its CPU read from the kernel with that of its children. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { hasProgram } from './machine.ts'

export interface Subject {
  name: string
  /** Where it listens, `http://127.0.0.1:<port>`. */
  url: string
  /** Milliseconds of CPU that the process and its children have used so far. */
  cpuMs(): number
  close(): Promise<void>
}

const canPin = hasProgram('taskset', '--version')
// USER_HZ is 100 on every Linux that Node runs on.
const msPerTick = 10

/** Starts a program that prints one line with its address when it is ready. */
export async function startSubject(
  name: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  core = '0',
): Promise<Subject> {
  const command = canPin ? ['taskset', '-c', core, process.execPath, ...args] : [process.execPath, ...args]
  const [program = process.execPath, ...rest] = command
  const child = spawn(program, rest, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await addressOf(child, name)
  return {
    name,
    url,
    cpuMs: () => familyOf(child.pid ?? 0).reduce((sum, pid) => sum + cpuMsOf(pid), 0),
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

function addressOf(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error(`${name} has no output`))
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it was ready`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /https?:\/\/[\w.]+:\d+/.exec(line)?.[0]
      if (url) resolve(url)
    })
  })
}

function familyOf(root: number): number[] {
  const family = new Set([root])
  const parents = new Map(
    readdirSync('/proc')
      .filter(isNumber)
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

function isNumber(text: string): boolean {
  return /^\d+$/.test(text)
}

// Fields after the command's closing bracket, which may itself contain blanks: state, ppid, …, utime (12th), stime (13th).
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1] ?? -1)
}

function cpuMsOf(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * msPerTick
}
