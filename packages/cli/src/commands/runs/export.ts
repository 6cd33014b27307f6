import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import { countOf } from '../../terminal/output.ts'
import { Interruption } from '../../ui/interruption.ts'
import { continued, listFlags, parseListFilter, queryOf } from './filters.ts'

const pageSize = 20

export const command = defineCommand({
  summary:
    'Prints runs with their parameters and messages, newest first: one line of JSON for each. With --tag or --feedback, by the start of the conversation.',
  examples: [
    'stet runs export --since 7d > runs.jsonl',
    'stet runs export --status error --cursor "$CURSOR" >> runs.jsonl',
  ],
  flags: { ...listFlags, '--cursor <cursor>': 'continue an export that was cut off' },
  parse: (raw) => ({ ...parseListFilter(raw), ...defined({ cursor: raw.flags.cursor }) }),
  async run({ cursor, ...filter }, ctx) {
    const { io, style, say, warn } = ctx
    const query = await queryOf(filter, ctx)
    const { runs } = await ctx.client()
    const interruption = new Interruption(ctx)
    const { signal } = interruption
    let next: string | null | undefined = cursor
    let count = 0
    try {
      do {
        const page = await runs.list({
          ...query,
          ...defined({ cursor: next }),
          include: 'content',
          limit: pageSize,
          signal,
        })
        for (const run of page.items) io.out(`${JSON.stringify(run)}\n`, 'json')
        count += page.items.length
        next = page.nextCursor
      } while (next !== null)
    } catch (error) {
      if (next !== undefined && next !== null)
        warn(`${countOf(count, 'run')} exported; continue with the same filters and ${continued(query, next)}`)
      interruption.throwIfInterrupted('The export was stopped')
      throw error
    } finally {
      interruption.end()
    }
    say(`${style.ok} ${countOf(count, 'run')}`)
  },
})
