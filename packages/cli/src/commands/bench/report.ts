import type { Context } from '../../context.ts'
import type { EndSignal } from '../../io.ts'
import { type Column, countOf, formatTable } from '../../terminal/output.ts'
import { asShown } from '../../terminal/terminal-style.ts'
import type { BenchPrompt } from './bench-run.ts'
import type { Load } from './drive-load.ts'
import type { MeasuredLoad } from './measure-load.ts'
import type { CountedError, Percentiles } from './tally.ts'
import type { WarmUp } from './warm-up.ts'

export interface BenchReport {
  path: string
  versionUuid: string
  mode: 'stream' | 'json'
  concurrency: number
  seconds: number
  /** Successful runs. */
  runs: number
  runsPerSecond: number
  failed: number
  /** Runs that were still active at the end and were stopped. */
  stopped: number
  /** In milliseconds, like `latency`. Null if no run streamed any text. */
  firstText: Percentiles | null
  latency: Percentiles | null
  /** Null for JSON runs. */
  stream: { eventsPerSecond: number; textBytesPerSecond: number } | null
  cost: number
  errors: CountedError[]
  servers: ServerFigures[]
  warmUp: WarmUp
  generator: { cpuMsPerRun: number; coreShare: number }
  interruptedBy: EndSignal | null
}

interface ServerFigures {
  baseUrl: string
  runs: number
  failed: number
}

export interface ReportInput {
  measured: MeasuredLoad
  warmUp: WarmUp
  prompt: BenchPrompt
  baseUrls: readonly string[]
  load: Load
  interruptedBy: EndSignal | undefined
}

/** Above this share of a core, the load generator may limit the figures. */
const SATURATED_SHARE = 0.8
/** In a shorter load, compiling uses most of the CPU time. */
const SHORTEST_JUDGED_SECONDS = 1

export function buildReport({ measured, warmUp, prompt, baseUrls, load, interruptedBy }: ReportInput): BenchReport {
  const { tally, seconds, cpuSeconds, cpuWindowSeconds } = measured
  const ended = tally.done + tally.failed
  const rate = (count: number): number => rounded(seconds > 0 ? count / seconds : 0)
  const { path, versionUuid, isStream } = prompt
  return {
    path,
    versionUuid,
    mode: isStream ? 'stream' : 'json',
    concurrency: load.concurrency,
    seconds: rounded(seconds),
    runs: tally.done,
    runsPerSecond: rate(tally.done),
    failed: tally.failed,
    stopped: tally.stopped,
    firstText: tally.firstTextMs,
    latency: tally.latencyMs,
    stream: isStream ? { eventsPerSecond: rate(tally.events), textBytesPerSecond: rate(tally.textBytes) } : null,
    cost: tally.cost,
    errors: tally.errors,
    servers: measured.servers.map(({ done, failed }, index) => ({
      baseUrl: baseUrls[index] ?? '',
      runs: done,
      failed,
    })),
    warmUp,
    generator: {
      cpuMsPerRun: rounded(ended > 0 ? (cpuSeconds * 1000) / ended : 0),
      coreShare: rounded(cpuSeconds / cpuWindowSeconds),
    },
    interruptedBy: interruptedBy ?? null,
  }
}

export function warnAboutGenerator(
  { generator, seconds }: Pick<BenchReport, 'generator' | 'seconds'>,
  warn: Context['warn'],
): void {
  if (generator.coreShare <= SATURATED_SHARE || seconds < SHORTEST_JUDGED_SECONDS) return
  const share = `${Math.round(generator.coreShare * 100)} % of a core`
  warn(`The load generator used ${share}, so it may limit these figures. Start several at once, on other machines`)
}

export function printReport(report: BenchReport, { io, style, say }: Context): void {
  const { stream, generator, warmUp } = report
  const out = (parts: readonly string[]): void => io.out(`${asShown(parts.join(' · '), io)}\n`)
  const ended = `${countOf(report.runs, 'run')} in ${shownSeconds(report.seconds)}`
  out([ended, `${report.runsPerSecond.toFixed(1)} runs/s`, `${report.failed} failed`, ...stoppedPart(report)])
  const latencies = [
    { name: 'first text', figures: report.firstText },
    { name: 'whole run', figures: report.latency },
  ]
  io.out(
    formatTable(
      latencyColumns,
      latencies.flatMap(({ name, figures }) => (figures ? { name, ...figures } : [])),
      io,
    ),
  )
  if (stream) {
    const text = `${(stream.textBytesPerSecond / 1000).toFixed(1)} kB/s of text`
    out([`${stream.eventsPerSecond.toFixed(1)} events/s`, text])
  }
  if (report.cost > 0) out([`cost $${report.cost.toFixed(4)}`])
  if (report.servers.length > 1) io.out(formatTable(serverColumns, report.servers, io))
  if (report.errors.length > 0) io.out(formatTable(errorColumns, report.errors, io))
  out([`generator ${generator.cpuMsPerRun} ms CPU per run`, `${Math.round(generator.coreShare * 100)} % of a core`])
  if (warmUp.failed > 0) say(`${style.warn} ${warmUp.failed} of ${countOf(warmUp.runs, 'run')} failed in the warm-up`)
  if (report.errors.some(({ cause }) => cause.startsWith('429'))) {
    say(
      '  hint: stet keys create bench --role app --plan custom --limit <requests per second> creates a key with a higher limit',
    )
  }
}

const latencyColumns: readonly Column<Percentiles & { name: string }>[] = [
  { head: '', cell: ({ name }) => name },
  { head: 'P50', cell: ({ p50 }) => shownMs(p50) },
  { head: 'P90', cell: ({ p90 }) => shownMs(p90) },
  { head: 'P99', cell: ({ p99 }) => shownMs(p99) },
  { head: 'MAX', cell: ({ max }) => shownMs(max) },
]

const serverColumns: readonly Column<ServerFigures>[] = [
  { head: 'SERVER', cell: ({ baseUrl }) => baseUrl },
  { head: 'RUNS', cell: ({ runs }) => String(runs) },
  { head: 'FAILED', cell: ({ failed }) => String(failed) },
]

const errorColumns: readonly Column<CountedError>[] = [
  { head: 'COUNT', cell: ({ count }) => String(count) },
  { head: 'ERROR', cell: ({ cause }) => cause },
  { head: 'EXAMPLE', cell: ({ example }) => example },
]

function stoppedPart({ stopped }: BenchReport): string[] {
  return stopped > 0 ? [`${stopped} stopped at the end`] : []
}

function shownMs(ms: number): string {
  return ms < 10_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : shownSeconds(ms / 1000)
}

function shownSeconds(seconds: number): string {
  return `${seconds.toFixed(1)} s`
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
