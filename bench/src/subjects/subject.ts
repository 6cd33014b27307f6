/** A process, on core 0 by default. The kernel reports its CPU time and memory, which include its children. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isProfiling, profileWhile, profilingEnvironment } from '../profiling/profiled-process.ts'
import { hasProgram } from './machine.ts'
import { cpuMsOf, descriptorsOf, familyOf, residentBytesOf } from './process-figures.ts'

export interface Subject {
  name: string
  url: string
  cpuMs(): number
  residentBytes(): number
  /** The process's open files and sockets, without those of its children. */
  descriptors(): number
  /** Set with `--profile`: profiles the process while the work runs, and prints the result. */
  profile?(work: () => Promise<unknown>): Promise<void>
  close(): Promise<void>
}

export interface SubjectOptions {
  environment?: Record<string, string>
  core?: string
  /** The file for the process's stderr. Default: the stderr of this process. */
  logFile?: string
  isProfiled?: boolean
}

const canPin = hasProgram('taskset', '--version')

// An interrupted bench must not leave servers behind, because they would slow down the next one.
const running = new Set<ChildProcess>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Keeps this process, which generates the load, off the subjects' core. */
export function pinLoad(): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)], { stdio: 'ignore' })
}

/** Starts a program that prints one line with its address when it is ready. */
export async function startSubject(
  name: string,
  args: readonly string[],
  { environment = {}, core = '0', logFile, isProfiled = false }: SubjectOptions = {},
): Promise<Subject> {
  const command = canPin ? ['taskset', '-c', core, process.execPath, ...args] : [process.execPath, ...args]
  const [program = process.execPath, ...rest] = command
  const profiling = isProfiled && isProfiling ? profilingEnvironment(environment['NODE_OPTIONS']) : undefined
  const child = spawn(program, rest, {
    env: { ...process.env, ...environment, ...profiling?.environment },
    stdio: ['ignore', 'pipe', logFile === undefined ? 'inherit' : openSync(logFile, 'a')],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const pid = child.pid ?? 0
  const url = await addressOf(child, name).catch((error: unknown) => {
    if (logFile !== undefined) process.stderr.write(readFileSync(logFile))
    throw error
  })
  const sum = (figure: (pid: number) => number) => () =>
    familyOf(pid).reduce((total, member) => total + figure(member), 0)
  return {
    name,
    url,
    cpuMs: sum(cpuMsOf),
    residentBytes: sum(residentBytesOf),
    descriptors: () => descriptorsOf(pid),
    ...(profiling && { profile: (work) => profileWhile(pid, profiling.folder, work) }),
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
