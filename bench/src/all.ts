/**
 * `pnpm bench`: most benches, in short rounds. `pnpm bench:bars`: the benches that the bars need, in longer rounds. Both
 * end with tables of the bars, the cost of a call and the capacity of one core. Exit code 1 if a bench failed or a bar
 * was missed, otherwise 2 if a bench was noisy.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { judge } from './bars.ts'
import type { Summary } from './measuring/rounds.ts'
import { printMarkdownTable } from './measuring/table.ts'
import { capacityRows, costRows } from './overview.ts'

type Step = readonly [bench: string, environment: Record<string, string>]

/** Only the start is also measured on PostgreSQL. All other bars apply to the embedded database. */
const database = process.env['BENCH_DATABASE_URL']
const embedded = { BENCH_DATABASE_URL: undefined }
const startOnPostgres: readonly Step[] =
  database === undefined ? [] : [['size/start', { BENCH_DATABASE_URL: database }]]

const short: readonly Step[] = [
  ['requests/fetch', { REQUESTS: '3000' }],
  ['requests/run', { REQUESTS: '600' }],
  ['streams/stream', { CHUNKS: '100', ONLY: 'paced|tokens|64' }],
  ['streams/first-text', {}],
  ['size/idle', { STREAMS: '300' }],
  ['streams/attach', { EVENTS: '5000', REQUESTS: '20' }],
  ['attacks/slow', { CHUNKS: '150' }],
  ['requests/template', { STEPS: '200', REQUESTS: '400' }],
  ['requests/report', {}],
  ['requests/writes', { REQUESTS: '60' }],
  ['size/growth', { ROWS: '20000', REQUESTS: '100' }],
  ['size/start', { ROWS: '20000' }],
  ...startOnPostgres,
  ['streams/background', { CHUNKS: '50', STREAMS: '100' }],
  ['clients/sdk', { EVENTS: '2000', RUNS: '20' }],
  ['clients/cli', {}],
]

const forBars: readonly Step[] = [
  ['requests/run', { REQUESTS: '1500', ONLY: '16|64' }],
  ['streams/stream', { ONLY: 'paced|tokens' }],
  ['requests/fetch', {}],
  ['requests/report', {}],
  ['size/idle', { STREAMS: '1000' }],
  ['size/growth', { REQUESTS: '200' }],
  ['size/start', { ROWS: '1000' }],
  ...startOnPostgres,
]

const isForBars = process.argv.includes('--bars')
const rounds = process.env['ROUNDS'] ?? (isForBars ? '3' : '2')
const summaries: Summary[] = []
let isNoisy = false
let hasFailed = false

for (const [bench, environment] of isForBars ? forBars : short) {
  const status = await runBench(bench, { ROUNDS: rounds, ...environment })
  if (status === 2) isNoisy = true
  else if (status !== 0) {
    console.error(`${bench} failed`)
    hasFailed = true
  }
}
const { rows, isMissed } = judge(summaries)
console.log(`\nbars: medians of ${rounds} interleaved rounds`)
printMarkdownTable(rows)
for (const table of [costRows(summaries), capacityRows(summaries)]) {
  console.log('')
  printMarkdownTable(table)
}
process.exitCode = hasFailed || isMissed ? 1 : isNoisy ? 2 : 0

async function runBench(bench: string, environment: Record<string, string>): Promise<number | null> {
  const program = fileURLToPath(new URL(`${bench}.ts`, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', program], {
    env: { ...process.env, ...embedded, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    console.log(line)
    if (line.startsWith('{"bench":') && line.includes('"medians":')) summaries.push(JSON.parse(line) as Summary)
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return status
}
