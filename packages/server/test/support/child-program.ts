import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Node strips types itself from version 24 on, which starts a process in a third of the time.
const loader = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import', 'tsx']

/**
 * Node options for a process that lives for seconds. While it starts, V8 would optimize the WebAssembly of the embedded
 * database. That takes half of the start, and such a process ends before it pays.
 */
export const shortLived: readonly string[] = ['--liftoff-only']

/** Node's cache of compiled code. Each start after the first takes a third less. */
export const compileCache = { NODE_COMPILE_CACHE: join(tmpdir(), 'stet-test-compile-cache') }

/** Starts a TypeScript file as a separate process with piped output. Relative names refer to this folder. */
export function startProgram(file: string | URL, ...args: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: [...shortLived, ...loader],
    env: { ...process.env, ...compileCache },
    silent: true,
  })
}

export interface ProgramEnd {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Runs such a file to its end. */
export async function runProgram(file: string | URL, ...args: string[]): Promise<ProgramEnd> {
  return programEnd(startProgram(file, ...args))
}

/** Collects the output of a process until it ends. */
export async function programEnd(child: ChildProcess): Promise<ProgramEnd> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, stdout, stderr }
}
