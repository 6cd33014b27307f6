/** Runs `turbo` with the given arguments, without telemetry. */
import { spawnSync } from 'node:child_process'
import { quietEnvironment } from './quiet-environment.mjs'

const { status } = spawnSync('turbo', process.argv.slice(2), {
  stdio: 'inherit',
  env: quietEnvironment(process.env),
  shell: process.platform === 'win32',
})
process.exitCode = status ?? 1
