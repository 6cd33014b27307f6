import { FEEDBACK_VALUES, type ListRunsQuery, RUN_STATES, STATS_VIAS } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { type Flags, type Input, oneOf, parseDuration } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { promptNamed } from '../../sync/prompt-path.ts'

/** Flags for facts that a run has from its start. */
const startFlags = {
  '--path <path>': 'only for this prompt',
  '--tag <tag>': 'only with this tag',
  '--id <identifier>': 'only with this custom identifier',
  '--via <channel>': `${STATS_VIAS.join(', ')} (api and console)`,
  '--author <author>': 'only with API keys of this author: an id, or me',
  '--since <duration>': 'started within this time, such as 24h',
} as const satisfies Flags

/** Flags for facts that are known when a run has ended. */
const endFlags = {
  '--status <states>': 'queued, running, completed, error, stopped, or several with commas',
  '--model <model>': 'only with this model',
  '--min-cost <usd>': 'only if the cost is at least this many USD',
  '--min-duration <duration>': 'only if it took this long, such as 500ms or 2m',
} as const satisfies Flags

export const tailFlags = { ...startFlags, ...endFlags } as const

/**
 * Feedback arrives after a run, so only lists can filter by it. With `--from`, a list that is continued later begins at
 * the same time.
 */
export const listFlags = {
  ...tailFlags,
  '--from <time>': 'started at this ISO time or later, instead of --since',
  '--feedback <value>': `only with this newest feedback: ${FEEDBACK_VALUES.join(' or ')}`,
} as const satisfies Flags

export interface StartFilter extends Pick<ListRunsQuery, 'tag' | 'customIdentifier' | 'via' | 'author'> {
  path?: string
  sinceSeconds?: number
}

export type EndFilter = Pick<ListRunsQuery, 'status' | 'model' | 'minCost' | 'minDurationMs'>

type RawFilter = Input<typeof tailFlags>

export function parseStartFilter(raw: RawFilter): StartFilter {
  return defined({
    path: raw.flags.path,
    tag: raw.flags.tag,
    customIdentifier: raw.flags.id,
    via: oneOf(STATS_VIAS, raw.flags.via, '--via'),
    author: raw.flags.author,
    sinceSeconds: parseDuration(raw.flags.since, '--since'),
  })
}

export function parseEndFilter(raw: RawFilter): EndFilter {
  const states = raw.flags.status?.split(',').map((state) => oneOf(RUN_STATES, state, '--status'))
  const cost = raw.flags.minCost
  if (cost !== undefined && !/^\d{1,15}(\.\d{1,12})?$/.test(cost))
    throw new CliError('usage', `--min-cost must be a number of USD such as 0.05, not "${cost}"`)
  const duration = raw.flags.minDuration
  return defined({
    status: states,
    model: raw.flags.model,
    minCost: cost === undefined ? undefined : Number(cost),
    minDurationMs: duration === undefined ? undefined : parseMilliseconds(duration),
  })
}

export function parseListFilter(raw: Input<typeof listFlags>): StartFilter & ListRunsQuery {
  const feedback = oneOf(FEEDBACK_VALUES, raw.flags.feedback, '--feedback')
  const from = raw.flags.from
  if (from !== undefined && raw.flags.since !== undefined)
    throw new CliError('usage', 'Use --since or --from, not both')
  return { ...parseStartFilter(raw), ...parseEndFilter(raw), ...defined({ feedback, from: from && instant(from) }) }
}

/** Describes how to continue a list at a cursor. */
export function continued({ from }: ListRunsQuery, cursor: string): string {
  return from === undefined ? `--cursor ${cursor}` : `--from ${from} (not --since) --cursor ${cursor}`
}

function instant(text: string): string {
  const isIso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const at = Date.parse(text)
  if (!isIso || Number.isNaN(at))
    throw new CliError('usage', `--from must be an ISO time such as 2026-01-31T12:00:00Z, not "${text}"`)
  return new Date(at).toISOString()
}

/** Requires a project. `--since` counts from now. */
export async function queryOf({ path, sinceSeconds, ...equal }: StartFilter & ListRunsQuery, ctx: Context) {
  await ctx.projectId()
  const query: ListRunsQuery = equal
  if (path !== undefined) query.path = await promptNamed(path, ctx)
  if (sinceSeconds !== undefined) query.from = new Date(Date.now() - sinceSeconds * 1000).toISOString()
  return query
}

function parseMilliseconds(text: string): number {
  const [, count] = /^(\d{1,9})ms$/.exec(text) ?? []
  return count === undefined ? parseDuration(text, '--min-duration') * 1000 : Number(count)
}
