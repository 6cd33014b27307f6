import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

// From Node 24 on types are stripped by Node itself, which takes a third of the time of starting a process.
const loader = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import', 'tsx']

/** Starts a TypeScript file of `test/support` as a process of its own; its output is piped. */
export function startProgram(file: string, ...args: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv: loader, silent: true })
}

export interface ProgramEnd {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Runs such a file to its end. */
export async function runProgram(file: string, ...args: string[]): Promise<ProgramEnd> {
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
