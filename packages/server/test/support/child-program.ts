import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tally } from '../../../../scripts/tally.ts'

// From version 24 on, Node strips types itself. A process then starts three times as fast as with tsx.
const loader = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import', 'tsx']

/**
 * Node options for a process that lives for seconds. Without them V8 optimizes the embedded database's WebAssembly,
 * which takes half of the start. Such a process ends before the optimization pays off.
 */
export const shortLived: readonly string[] = ['--liftoff-only']

/** Node's compile cache makes each start after the first a third faster. */
export const compileCache = { NODE_COMPILE_CACHE: join(tmpdir(), 'stet-test-compile-cache') }

/** Starts a TypeScript file as a separate process with piped output. Relative names refer to this folder. */
export function startProgram(file: string | URL, ...args: string[]): ChildProcess {
  return startProgramWith([], file, ...args)
}

/** Like `startProgram`, with more options of Node. */
export function startProgramWith(options: readonly string[], file: string | URL, ...args: string[]): ChildProcess {
  tally('child process')
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: [...shortLived, ...loader, ...options],
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

export async function runProgram(file: string | URL, ...args: string[]): Promise<ProgramEnd> {
  return programEnd(startProgram(file, ...args))
}

export async function programEnd(child: ChildProcess): Promise<ProgramEnd> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, stdout, stderr }
}
