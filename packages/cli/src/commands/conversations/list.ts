import { RUN_STATES } from '@stet/contract/vocabulary'
import type { ConversationSummary } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand, type Flags, type Input, oneOf, parseDuration, positiveInteger } from '../../command.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { formatAge, formatTable, shortUuid } from '../../terminal/output.ts'

const pageSize = 100

const flags = {
  '--path <path>': 'only for this prompt',
  '--status <state>': 'queued, running, completed, error or stopped',
  '--id <identifier>': 'only with this custom identifier',
  '--since <duration>': 'started within this time, such as 24h',
  '--limit <n>': 'maximum number (20)',
} as const satisfies Flags

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

function parseFilter({ flags: { path, id: customIdentifier, ...given } }: Input<typeof flags>) {
  return {
    ...defined({ path, status: oneOf(RUN_STATES, given.status, '--status'), customIdentifier }),
    ...defined({ sinceSeconds: parseDuration(given.since, '--since') }),
    limit: positiveInteger(given.limit ?? '20', '--limit'),
  }
}
