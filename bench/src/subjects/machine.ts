import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'

export function describeMachine(): Record<string, string | number> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    node: process.version,
    commit: firstLine('git', ['rev-parse', '--short', 'HEAD']) ?? 'unknown',
  }
}

export function hasProgram(name: string, ...args: string[]): boolean {
  return firstLine(name, args) !== undefined
}

function firstLine(command: string, args: string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0]
  } catch {
    return undefined
  }
}
