import { RUN_STATES } from '@stet/contract/vocabulary'
import type { ConversationSummary } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand, parseDuration, type RawInput, textFlag } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import type { Flag, FlagName } from '../../settings/global-flags.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { formatAge, formatTable, shortUuid } from '../../terminal/output.ts'

const pageSize = 100

const flags = [
  { long: '--path', value: '<path>', summary: 'only for this prompt' },
  { long: '--status', value: '<state>', summary: 'queued, running, completed, error or stopped' },
  { long: '--id', value: '<identifier>', summary: 'only with this custom identifier' },
  { long: '--since', value: '<duration>', summary: 'started within this time, such as 24h' },
  { long: '--limit', value: '<n>', summary: 'maximum number (20)' },
] as const satisfies readonly Flag[]

export const command = defineCommand({
  summary: 'Lists conversations, newest first. stet runs list also has their earlier runs, models and costs.',
  examples: ['stet conversations list --status running', 'stet conversations list --path support/reply --since 24h'],
  flags,
  parse: parseFilter,
  async run({ limit, sinceSeconds, path, ...others }, ctx) {
    await ctx.projectId()
    const filter = { ...others, ...(path !== undefined && { path: await promptNamed(path, ctx) }) }
    const from = sinceSeconds === undefined ? {} : { from: new Date(Date.now() - sinceSeconds * 1000).toISOString() }
    const page = await (await ctx.client()).conversations.list({ ...filter, ...from, limit: Math.min(limit, pageSize) })
    return { conversations: await page.toArray({ limit }) }
  },
  print({ conversations }, { io }) {
    const isShort = io.tty.stdout
    const columns = [
      { head: 'UUID', cell: ({ uuid }: ConversationSummary) => (isShort ? shortUuid(uuid) : uuid) },
      { head: 'STATUS', cell: ({ status }: ConversationSummary) => status },
      { head: 'PROMPT', cell: ({ path }: ConversationSummary) => path },
      {
        head: 'VERSION',
        cell: ({ versionUuid: uuid }: ConversationSummary) => (isShort ? shortUuid(uuid) : uuid),
      },
      { head: 'STARTED', cell: ({ createdAt: at }: ConversationSummary) => (isShort ? formatAge(at) : at) },
    ]
    io.out(formatTable(columns, conversations, io))
  },
})

function parseFilter(raw: RawInput<FlagName<typeof flags>>) {
  const path = textFlag(raw, 'path')
  const status = textFlag(raw, 'status')
  const customIdentifier = textFlag(raw, 'id')
  const since = textFlag(raw, 'since')
  const limit = textFlag(raw, 'limit') ?? '20'
  const state = RUN_STATES.find((one) => one === status)
  if (status !== undefined && !state)
    throw new CliError('usage', `--status must be one of ${RUN_STATES.join(', ')}, not "${status}"`)
  if (!/^[1-9]\d{0,5}$/.test(limit)) throw new CliError('usage', `--limit must be a positive integer, not "${limit}"`)
  return {
    ...defined({ path, status: state, customIdentifier }),
    ...(since !== undefined && { sinceSeconds: parseDuration(since, '--since') }),
    limit: Number(limit),
  }
}
