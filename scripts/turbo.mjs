/** Runs `turbo` with the given arguments, without telemetry. */
import { spawnSync } from 'node:child_process'
import { quietEnvironment } from './quiet-environment.mjs'

const args = process.argv.slice(2)
// Packages are checked beside each other, one per core, and each compiler has one thread. With threads of its own, it
// checks what they share once per thread, which takes a third more processor time.
if (args.includes('types')) args.push('--concurrency=2')
const { status } = spawnSync('turbo', args, {
  stdio: 'inherit',
  env: quietEnvironment(process.env),
  shell: process.platform === 'win32',
})
process.exitCode = status ?? 1
