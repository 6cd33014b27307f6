import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tally } from '../../../../scripts/tally.ts'

// From version 24 on, Node strips types itself, which makes a process start three times as fast.
export const loader = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import', 'tsx']

/** The process ends too soon to benefit from optimized WebAssembly. */
export function startProgram(file: string | URL, ...args: string[]): ChildProcess {
  tally('child process')
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

export async function programEnd(child: ChildProcess): Promise<ProgramEnd> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, stdout, stderr }
}
