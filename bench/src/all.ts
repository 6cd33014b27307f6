/** `pnpm bench`: every bench in short rounds, under five minutes. Exit code 2 if one was noisy, 1 if one failed. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const short: readonly [bench: string, environment: Record<string, string>][] = [
  ['fetch', { REQUESTS: '3000' }],
  ['requests/run', { REQUESTS: '600' }],
  ['stream', { CHUNKS: '100', STREAMS: '100' }],
  ['first-text', {}],
  ['size/idle', { STREAMS: '300' }],
  ['attach', { EVENTS: '5000', REQUESTS: '20' }],
  ['attacks/slow', { CHUNKS: '150' }],
  ['requests/template', { STEPS: '200', REQUESTS: '400' }],
  ['requests/writes', { REQUESTS: '60' }],
  ['size/growth', { ROWS: '20000', REQUESTS: '100' }],
  ['size/start', { ROWS: '20000' }],
  ['background', { CHUNKS: '50', STREAMS: '100' }],
  ['clients/sdk', { EVENTS: '2000', RUNS: '20' }],
  ['clients/cli', {}],
]

let worst = 0
for (const [bench, environment] of short) {
  const program = fileURLToPath(new URL(`${bench}.ts`, import.meta.url))
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', program], {
    env: { ...process.env, ROUNDS: '2', ...environment },
    stdio: 'inherit',
  })
  if (status !== 0 && status !== 2) {
    console.error(`${bench} failed`)
    worst = 1
  } else if (status === 2 && worst === 0) worst = 2
}
process.exitCode = worst
