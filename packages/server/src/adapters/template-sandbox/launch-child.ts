import { type ChildProcess, spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { isolation } from './isolation.ts'

/** The permission model lost its prefix in Node 22.13. */
function permissionFlag(): string {
  return process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
}

/** Starts a worker process: without rights, environment and network, as far as the platform allows. */
export function launchChild(childFile: string): ChildProcess {
  const file = realpathSync(childFile)
  const [program = process.execPath, ...args] = [
    ...isolation().prefix,
    process.execPath,
    permissionFlag(),
    `--allow-fs-read=${file}`,
    '--disallow-code-generation-from-strings',
    '--disable-proto=delete',
    '--max-old-space-size=96',
    '--no-warnings',
    file,
  ]
  return spawn(program, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true })
}
