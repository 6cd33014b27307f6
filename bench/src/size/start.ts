/** `pnpm bench:start`: the time from process start to first response, the CPU time of the start, and idle memory. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import { type Comparison, compare, type Figures } from '../measuring/rounds.ts'
import { settledBytes } from '../measuring/settled-bytes.ts'
import { baselineServer, openStet, startUpstream } from '../subjects/candidates.ts'
import { type Subject, startSubject } from '../subjects/subject.ts'
import { startFilledStet } from './filled-stet.ts'

const rows = Number(process.env['ROWS'] ?? 100_000)
const database = process.env['BENCH_DATABASE_URL']

const measures: Comparison['measures'] = [
  { name: 'startMs', title: 'start ms', digits: 0, isCompared: true },
  { name: 'cpuMs', title: 'CPU ms', digits: 0, isCompared: true },
  { name: 'idleMegabytes', title: 'idle MB', digits: 0, isCompared: false },
]

const folder = mkdtempSync(join(tmpdir(), 'stet-bench-'))
const upstream = await startUpstream()
const environment: Record<string, string> = database === undefined ? {} : { DATABASE_URL: database }
const control = await bundledControl()
function onFolder(name: string, options: { program?: string | undefined } = {}): Promise<Figures> {
  mkdirSync(join(folder, name), { recursive: true })
  return measure(() => openStet(upstream.url, join(folder, name), environment, options))
}
let firstStarts = 0
const laterStarts = { name: 'stet, later start', round: () => onFolder('later') }

if (database === undefined) {
  // Fills a database and stops its server. The `${rows} rows` candidate starts on this data directory.
  const filled = await startFilledStet(upstream.url, rows, Math.ceil(rows / 100))
  await filled.end()
  await compare({
    bench: 'start, embedded database',
    measures,
    control: { name: 'bare express', round: () => measure(control) },
    others: [
      {
        name: 'stet, first start',
        round: () => {
          firstStarts += 1
          return onFolder(`first-${firstStarts}`)
        },
      },
      laterStarts,
      ...(baselineServer === undefined
        ? []
        : [{ name: 'stet (baseline), later start', round: () => onFolder('baseline', { program: baselineServer }) }]),
      { name: `stet, ${rows} rows`, round: () => measure(() => openStet(upstream.url, filled.dataDir)) },
    ],
  })
  rmSync(filled.dataDir, { recursive: true })
} else {
  // Creates the tables before the measured starts.
  await onFolder('later')
  await compare({
    bench: 'start, PostgreSQL',
    measures,
    control: { name: 'bare express + Prisma client', round: () => measure(control) },
    others: [laterStarts],
  })
}
await upstream.close()
rmSync(folder, { recursive: true })

async function measure(start: () => Promise<Subject>): Promise<Figures> {
  const startedMs = performance.now()
  const subject = await start()
  const answer = await fetch(`${subject.url}/ready`)
  const startMs = performance.now() - startedMs
  if (!answer.ok) throw new Error(`${subject.name}: ${answer.status} ${await answer.text()}`)
  const cpuMs = subject.cpuMs()
  const idleMegabytes = (await settledBytes(subject)) / 1_048_576
  await subject.close()
  return { startMs, cpuMs, idleMegabytes }
}

/** The control is bundled in advance like the server, because compiling would count as start time. */
async function bundledControl(): Promise<() => Promise<Subject>> {
  // Writes into bench's `node_modules`, so that the control's dependencies are found.
  const outDir = fileURLToPath(new URL('../../node_modules/.controls', import.meta.url))
  const entry = fileURLToPath(new URL('../../controls/express-prisma.ts', import.meta.url))
  await build({ entry, outDir, config: false, logLevel: 'error', dts: false, clean: true })
  return () => startSubject('express-prisma', [join(outDir, 'express-prisma.mjs')], { environment })
}
