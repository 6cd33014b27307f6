import type { ListedRun, Page } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand, positiveInteger } from '../../command.ts'
import { formatAge, formatTable, shortUuid } from '../../terminal/output.ts'
import { continued, listFlags, parseListFilter, queryOf } from './filters.ts'
import { costOf, durationOf, tokensOf } from './run-figures.ts'

const pageSize = 100

export const command = defineCommand({
  summary:
    'Lists runs, newest first, or with --tag or --feedback by the start of the conversation. A request searches at most 5,000 runs.',
  examples: [
    'stet runs list --status error --since 24h',
    'stet runs list --path support/reply --min-duration 10s --json',
    'stet runs list --author me --limit 5',
  ],
  flags: {
    ...listFlags,
    '--limit <n>': 'maximum number (20)',
    '--cursor <cursor>': 'continue a search',
  },
  parse(raw) {
    return {
      limit: positiveInteger(raw.flags.limit ?? '20', '--limit'),
      filter: { ...parseListFilter(raw), ...defined({ cursor: raw.flags.cursor }) },
    }
  },
  async run({ limit, filter }, ctx) {
    const query = await queryOf(filter, ctx)
    const { runs } = await ctx.client()
    let page: Page<ListedRun> = await runs.list({ ...query, limit: Math.min(limit, pageSize) })
    const found = [...page.items]
    let asked = Math.min(limit, pageSize)
    // A page that is not full has reached the bound of the search, or the last run.
    while (page.nextCursor !== null && page.items.length === asked && found.length < limit) {
      asked = Math.min(limit - found.length, pageSize)
      page = await runs.list({ ...query, limit: asked, cursor: page.nextCursor })
      found.push(...page.items)
    }
    const { nextCursor, scannedTo = null } = page
    return { runs: found, nextCursor, scannedTo, ...defined({ from: query.from }) }
  },
  print({ runs, nextCursor, scannedTo, ...query }, { io, say }, { limit }) {
    const isShort = io.tty.stdout
    const named = (uuid: string): string => (isShort ? shortUuid(uuid) : uuid)
    const columns = [
      { head: 'UUID', cell: ({ uuid }: ListedRun) => named(uuid) },
      { head: 'STATUS', cell: ({ status }: ListedRun) => status },
      { head: 'PROMPT', cell: ({ path }: ListedRun) => path },
      { head: 'VERSION', cell: ({ versionUuid }: ListedRun) => named(versionUuid) },
      { head: 'MODEL', cell: ({ model }: ListedRun) => model ?? '-' },
      { head: 'STARTED', cell: ({ createdAt: at }: ListedRun) => (isShort ? formatAge(at) : at) },
      { head: 'DURATION', cell: ({ durationMs }: ListedRun) => durationOf(durationMs) },
      { head: 'TOKENS', cell: (run: ListedRun) => tokensOf(run, io) },
      { head: 'COST', cell: costOf },
    ]
    io.out(formatTable(columns, runs, io))
    if (nextCursor !== null && runs.length < limit) {
      say(`Searched back to ${scannedTo ?? 'an earlier run'}; continue with ${continued(query, nextCursor)}`)
    }
  },
})
