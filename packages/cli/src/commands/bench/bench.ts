import type { Stet } from '@stet/sdk'
import { defineCommand, type Flags, type Input, parseDuration, positiveInteger } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError, codeOfSignal, exitCodes } from '../../exit-code.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { countOf, shortUuid } from '../../terminal/output.ts'
import { Interruption } from '../../ui/interruption.ts'
import { gatherParameters, type ParameterInput, parameterFlags, parseParameters } from '../../ui/parameters.ts'
import type { BenchPrompt } from './bench-run.ts'
import { confirmCost } from './confirm-cost.ts'
import type { Load } from './drive-load.ts'
import { measureLoad } from './measure-load.ts'
import { type BenchReport, buildReport, printReport, warnAboutGenerator } from './report.ts'
import { warmUpServers } from './warm-up.ts'

export interface BenchInput {
  path: string
  parameters: ParameterInput
  servers: string[]
  load: Load
  warmUpRuns: number | undefined
  isStream: boolean
  customIdentifier: string
}

const DEFAULT_CONCURRENCY = 10
const DEFAULT_SECONDS = 10
const LONGEST_SECONDS = 7 * 86_400

const flags = {
  ...parameterFlags,
  '-c, --concurrency <n>': `runs at once (${DEFAULT_CONCURRENCY})`,
  '--duration <duration>': `start runs for this long, such as 30s (${DEFAULT_SECONDS}s)`,
  '--runs <n>': 'end after this many runs, without a time limit unless --duration is set',
  '--warm-up <n>': 'runs before the measurement (same as --concurrency)',
  '--stream': 'read runs as event streams, which measures the first text (default)',
  '--no-stream': 'read each run as one JSON response',
  '--server <url>...': 'server to load instead of --base-url; repeat it, or separate servers with commas, to alternate',
  '--id <identifier>': 'custom identifier of the conversations (stet-bench)',
} as const satisfies Flags

export const command = defineCommand({
  summary:
    'Runs a prompt many times at once against a running server, or several, and reports throughput, latency and errors.',
  examples: [
    'stet bench support/reply -p ticket="It fails"',
    'stet bench support/reply --params load.json --concurrency 64 --duration 2m --no-stream',
    'stet bench support/reply --server http://10.0.0.1:8787,http://10.0.0.2:8787 --runs 10000 --json',
  ],
  args: { '<path>': 'the prompt' },
  flags,
  parse: parseBench,
  run: bench,
  print: printReport,
  exitCode({ interruptedBy, failed, stopped, warmUp }) {
    if (interruptedBy) return exitCodes[codeOfSignal(interruptedBy)]
    return failed + stopped + warmUp.failed > 0 ? exitCodes.run_failed : exitCodes.success
  },
})

async function bench({ path: name, load, ...input }: BenchInput, ctx: Context): Promise<BenchReport> {
  await ctx.projectId()
  const { clients, firstCtx } = await openServers(input.servers, ctx)
  const client = await firstCtx.client()
  const versionUuid = await findVersionToRun(client, firstCtx)
  const path = await promptNamed(name, ctx)
  const parameters = await gatherParameters(input.parameters, ctx)
  const warmUpRuns = input.warmUpRuns ?? Math.max(load.concurrency, clients.length)
  await confirmCost(client, { path, versionUuid, howMany: describeRuns(load, warmUpRuns) }, ctx)
  const { isStream, customIdentifier } = input
  const asked: BenchPrompt = { path, versionUuid, parameters, customIdentifier, isStream }
  const interruption = new Interruption(ctx, 'Ending the load. Press Ctrl-C again to exit at once')
  try {
    const { warmUp, prompt } = await warmUpServers({ clients, prompt: asked, load }, warmUpRuns, interruption, ctx)
    const baseUrls = clients.map(({ baseUrl }) => baseUrl)
    const version = versionUuid === 'live' ? 'live' : shortUuid(versionUuid)
    const end = [load.runs && countOf(load.runs, 'run'), load.durationMs && `${load.durationMs / 1000} s`]
    const head = [path, version, ...baseUrls, `${load.concurrency} at once`, end.filter(Boolean).join(' or ')]
    ctx.say(ctx.style.dim(`◌ ${head.join(' · ')}`))
    const measured = await measureLoad({ clients, prompt, load }, interruption.signal, ctx)
    const report = buildReport({ measured, warmUp, prompt, baseUrls, load, interruptedBy: interruption.by })
    warnAboutGenerator(report, ctx.warn)
    return report
  } finally {
    interruption.end()
  }
}

/** The rules of --base-url decide which address receives which API key. */
async function openServers(
  urls: readonly string[],
  ctx: Context,
): Promise<{ clients: readonly Stet[]; firstCtx: Context }> {
  const contexts = urls.map((baseUrl) => ctx.reopened({ baseUrl }))
  const firstCtx = contexts[0] ?? ctx
  // Retries and reconnects would hide failures.
  const measuring = { maxRetries: 0, streaming: { resume: false, bufferEvents: false } }
  const clients: Stet[] = []
  for (const one of contexts.length > 0 ? contexts : [ctx]) clients.push((await one.client()).withOptions(measuring))
  return { clients, firstCtx }
}

function describeRuns({ runs, durationMs }: Load, warmUpRuns: number): string {
  if (runs !== undefined) return `up to ${countOf(runs + warmUpRuns, 'run')}`
  return `${countOf(warmUpRuns, 'run')} to warm up, then as many as the servers complete in ${(durationMs ?? 0) / 1000} s`
}

function parseBench(raw: Input<typeof flags>): BenchInput {
  const integer = (text: string | undefined, flag: string) => positiveInteger(text, flag, 9_999_999)
  const runs = integer(raw.flags.runs, '--runs')
  const duration = raw.flags.duration ?? (runs === undefined ? `${DEFAULT_SECONDS}s` : undefined)
  const seconds = parseDuration(duration, '--duration')
  if (seconds !== undefined && (seconds === 0 || seconds > LONGEST_SECONDS))
    throw new CliError('usage', '--duration must be between 1s and 7d')
  return {
    path: raw.args[0] ?? '',
    parameters: parseParameters(raw),
    servers: raw.flags.server.flatMap((list) =>
      list
        .split(',')
        .map((url) => url.trim())
        .filter(Boolean),
    ),
    load: {
      concurrency: integer(raw.flags.concurrency, '--concurrency') ?? DEFAULT_CONCURRENCY,
      runs,
      durationMs: seconds === undefined ? undefined : seconds * 1000,
    },
    warmUpRuns: raw.flags.warmUp === '0' ? 0 : integer(raw.flags.warmUp, '--warm-up'),
    isStream: raw.flags.stream,
    customIdentifier: raw.flags.id ?? 'stet-bench',
  }
}
