import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// From Node 24 on types are stripped by Node itself, which takes a third of the time of starting a process.
const loader = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import', 'tsx']

/**
 * Options for Node of a process that lives for seconds. V8 would optimise the WebAssembly of the embedded database while it
 * starts, which takes half of all that a start costs, and such a process ends before it could gain by it.
 */
export const shortLived: readonly string[] = ['--liftoff-only']

/** Node's cache of compiled code. Each start after the first takes a third less. */
export const compileCache = { NODE_COMPILE_CACHE: join(tmpdir(), 'stet-test-compile-cache') }

/** Starts a TypeScript file, by default of this folder, as a process of its own; its output is piped. */
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
