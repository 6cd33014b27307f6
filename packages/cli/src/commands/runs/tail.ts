import { setTimeout as wait } from 'node:timers/promises'
import type { Run, Stet } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { describeFailure } from '../../exit-code.ts'
import { oneLine, shortUuid } from '../../terminal/output.ts'
import { parseEndFilter, parseStartFilter, queryOf, tailFlags } from './filters.ts'
import { costOf, durationOf, tokensOf } from './run-figures.ts'
import { advance, matches, runsBefore, type TailEvent, type TailProgress } from './tail-progress.ts'

const pollEveryMs = 2000
const pageSize = 100
/** Long runs are read one at a time. Other long runs wait for their turn. */
const mostReads = 10

export const command = defineCommand({
  summary: 'Prints a line for each run that starts and for each that ends, until Ctrl-C.',
  examples: [
    'stet runs tail',
    'stet runs tail --path support/reply --status error',
    'stet runs tail --json | jq .data.cost',
  ],
  flags: tailFlags,
  parse: (raw) => ({ start: parseStartFilter(raw), end: parseEndFilter(raw) }),
  async run({ start, end }, ctx) {
    const { from, tag, ...query } = await queryOf(start, ctx)
    const client = await ctx.client()
    const controller = new AbortController()
    const release = ctx.io.onInterrupt(() => controller.abort())
    const { signal } = controller
    const poll = (before: TailProgress) => pollRuns(client, before, query, signal)
    try {
      let progress: TailProgress = { from, known: new Map() }
      // Without --since, runs that are there already are only noted.
      if (from === undefined) progress = (await poll(await newestFirst(client, progress, signal))).progress
      let isLost = false
      for (;;) {
        try {
          const { events, ...next } = await poll(progress)
          progress = next.progress
          for (const event of events) if (matches(event, { ...end, ...defined({ tag }) })) print(event, ctx)
          isLost = false
        } catch (error) {
          const { code, message } = await describeFailure(error)
          if (code !== 'unreachable' && code !== 'rate_limited') throw error
          if (!isLost) ctx.warn(`${message}; trying again`)
          isLost = true
        }
        await wait(pollEveryMs, undefined, { signal })
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      release()
    }
  },
})

/** Begins at the project's newest run. */
async function newestFirst(client: Stet, progress: TailProgress, signal: AbortSignal): Promise<TailProgress> {
  return advance(progress, { runs: [], newest: await newestOf(client, signal) }).progress
}

async function newestOf(client: Stet, signal: AbortSignal): Promise<string | undefined> {
  return (await client.runs.list({ limit: 1, signal })).items[0]?.createdAt
}

async function pollRuns(
  client: Stet,
  before: TailProgress,
  query: Parameters<Stet['runs']['list']>[0],
  signal: AbortSignal,
): Promise<ReturnType<typeof advance>> {
  const newest = await newestOf(client, signal)
  const from = before.from === undefined ? {} : { from: before.from }
  const page = await client.runs.list({ ...query, ...from, limit: pageSize, signal })
  const runs: Run[] = await page.toArray()
  const gone: string[] = []
  const { NotFoundError } = await import('@stet/sdk')
  for (const uuid of runsBefore(before).slice(0, mostReads)) {
    try {
      runs.push(await client.runs.get(uuid, { signal }))
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
      gone.push(uuid)
    }
  }
  return advance(before, { runs, newest, gone })
}

function print({ event, data }: TailEvent, { io, flags, dataStyle }: Context): void {
  if (flags.json) {
    io.out(`${JSON.stringify({ event, data })}\n`)
    return
  }
  const isShort = io.tty.stdout
  const named = (uuid: string): string => (isShort ? shortUuid(uuid) : uuid)
  const head = [named(data.uuid), data.path, named(data.versionUuid)]
  const cells =
    event === 'started'
      ? [data.createdAt, 'started', ...head]
      : [
          data.endedAt ?? '-',
          data.status === 'error' ? dataStyle.red(data.status) : data.status,
          ...head,
          data.model ?? '-',
          durationOf(data.durationMs),
          tokensOf(data, io),
          costOf(data),
          ...(data.error ? [data.error.message] : []),
        ]
  io.out(`${cells.map(oneLine).join(isShort ? '  ' : '\t')}\n`)
}
