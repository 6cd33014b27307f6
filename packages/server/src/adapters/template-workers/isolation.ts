/**
 * Starts worker processes with an empty environment. A worker process can read only its own file. If the OS permits,
 * the process also has kernel limits and no network.
 */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'

export interface Isolation {
  prefix: readonly string[]
  network: 'namespace' | 'shared'
  limits: 'kernel' | 'none'
}

export type LaunchedWorker = ChildProcessByStdio<Writable, Readable, null>

// The data segment consists of heap, thread stacks and buffers. Node 24 maps 580 MB at start.
const LIMITS = ['prlimit', '--core=0', '--fsize=0', '--nofile=64', `--data=${1_024 * 1024 * 1024}`]

let known: Promise<Isolation> | undefined

export function isolation(): Promise<Isolation> {
  known ??= probe()
  return known
}

async function probe(): Promise<Isolation> {
  const limits = (await works(LIMITS)) ? LIMITS : []
  let network: string[] = []
  // The second form needs only the right to create user namespaces.
  if (await works([...limits, 'unshare', '-n'])) network = ['unshare', '-n']
  else if (await works([...limits, 'unshare', '-U', '-n'])) network = ['unshare', '-U', '-n']
  return {
    prefix: [...limits, ...network],
    network: network.length > 0 ? 'namespace' : 'shared',
    limits: limits.length > 0 ? 'kernel' : 'none',
  }
}

function works(prefix: readonly string[]): Promise<boolean> {
  const [program = process.execPath, ...args] = [...prefix, process.execPath, '--version']
  return new Promise((resolve) => execFile(program, args, { env: {}, timeout: 10_000 }, (error) => resolve(!error)))
}

export function launchWorker(workerFile: string, { prefix }: Isolation): LaunchedWorker {
  const file = realpathSync(workerFile)
  // Node 22.13 renamed `--experimental-permission` to `--permission`.
  const isRenamed = process.allowedNodeEnvironmentFlags.has('--permission')
  const [program = process.execPath, ...args] = [
    ...prefix,
    process.execPath,
    isRenamed ? '--permission' : '--experimental-permission',
    `--allow-fs-read=${file}`,
    '--disallow-code-generation-from-strings',
    '--disable-proto=delete',
    '--max-old-space-size=96',
    '--no-warnings',
    file,
  ]
  return spawn(program, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true })
}
