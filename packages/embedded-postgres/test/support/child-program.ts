import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Node strips types itself from version 24 on, which starts a process in a third of the time.
const loader = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import', 'tsx']

/** Starts a TypeScript file as a process of its own, with piped output. It ends before optimized WebAssembly would pay. */
export function startProgram(file: string | URL, ...args: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ['--liftoff-only', ...loader],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'embedded-postgres-test-compile-cache') },
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

/** Collects the output of a process until it ends. */
export async function programEnd(child: ChildProcess): Promise<ProgramEnd> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, stdout, stderr }
}
