/** Isolation by the operating system, probed once with the available programs. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

export interface Isolation {
  /** Program and arguments that a worker process is started with. */
  prefix: readonly string[]
  /** Whether workers have a network namespace of their own, without any interface that is up. */
  network: 'namespace' | 'shared'
  limits: 'kernel' | 'none'
}

const MEGABYTE = 1024 * 1024
/** Limit of the data segment: heap, thread stacks, buffers. Node 24 maps 580 MB at start without using them. */
const MAX_DATA_BYTES = 1_024 * MEGABYTE
const LIMITS = ['--core=0', '--fsize=0', '--nofile=64', `--data=${MAX_DATA_BYTES}`]
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

let known: Isolation | undefined

/** The same for all workers of this process. */
export function isolation(): Isolation {
  known ??= probe()
  return known
}

function probe(): Isolation {
  const limits = firstWorking([], [commandOf('prlimit', LIMITS)])
  // The second way needs no right but that to make user namespaces.
  const network = firstWorking(limits, [commandOf('unshare', ['-n']), commandOf('unshare', ['-U', '-n'])])
  return {
    prefix: [...limits, ...network],
    network: network.length > 0 ? 'namespace' : 'shared',
    limits: limits.length > 0 ? 'kernel' : 'none',
  }
}

function commandOf(name: string, args: readonly string[]): string[] {
  const folder = process.platform === 'linux' ? FOLDERS.find((each) => existsSync(`${each}/${name}`)) : undefined
  return folder === undefined ? [] : [`${folder}/${name}`, ...args]
}

/** The first command that starts a worker's program; empty when none does. */
function firstWorking(before: readonly string[], commands: readonly (readonly string[])[]): readonly string[] {
  const works = (command: readonly string[]): boolean => {
    const [program, ...args] = [...before, ...command, process.execPath, '--version']
    if (command.length === 0 || program === undefined) return false
    return spawnSync(program, args, { env: {}, stdio: 'ignore', timeout: 10_000 }).status === 0
  }
  return commands.find(works) ?? []
}
