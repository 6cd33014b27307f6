import { FEEDBACK_VALUES, type ListRunsQuery, REQUEST_CHANNELS, RUN_STATES } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { parseDuration, type RawInput, textFlag } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import type { Flag, FlagName } from '../../settings/global-flags.ts'
import { promptNamed } from '../../sync/prompt-path.ts'

/** Flags for facts that a run has from its start. */
const startFlags = [
  { long: '--path', value: '<path>', summary: 'only for this prompt' },
  { long: '--tag', value: '<tag>', summary: 'only with this tag' },
  { long: '--id', value: '<identifier>', summary: 'only with this custom identifier' },
  { long: '--via', value: '<channel>', summary: `${REQUEST_CHANNELS.join(' or ')} (both)` },
  { long: '--author', value: '<author>', summary: 'only with API keys of this author: an id, or me' },
  { long: '--since', value: '<duration>', summary: 'started within this time, such as 24h' },
] as const satisfies readonly Flag[]

/** Flags for facts that are known when a run has ended. */
const endFlags = [
  {
    long: '--status',
    value: '<states>',
    summary: 'queued, running, completed, error, stopped, or several with commas',
  },
  { long: '--model', value: '<model>', summary: 'only with this model' },
  { long: '--min-cost', value: '<usd>', summary: 'only if the cost is at least this many USD' },
  { long: '--min-duration', value: '<duration>', summary: 'only if it took this long, such as 500ms or 2m' },
] as const satisfies readonly Flag[]

export const tailFlags = [...startFlags, ...endFlags] as const

/**
 * Feedback arrives after a run, so only lists can filter by it. With `--from`, a list that is continued later begins at
 * the same time.
 */
export const listFlags = [
  ...tailFlags,
  { long: '--from', value: '<time>', summary: 'started at this ISO time or later, instead of --since' },
  { long: '--feedback', value: '<value>', summary: `only with this newest feedback: ${FEEDBACK_VALUES.join(' or ')}` },
] as const satisfies readonly Flag[]

export interface StartFilter extends Pick<ListRunsQuery, 'tag' | 'customIdentifier' | 'via' | 'author'> {
  path?: string
  sinceSeconds?: number
}

export type EndFilter = Pick<ListRunsQuery, 'status' | 'model' | 'minCost' | 'minDurationMs'>

type RawFilter = RawInput<FlagName<typeof tailFlags>>

export function parseStartFilter(raw: RawFilter): StartFilter {
  const since = textFlag(raw, 'since')
  return defined({
    path: textFlag(raw, 'path'),
    tag: textFlag(raw, 'tag'),
    customIdentifier: textFlag(raw, 'id'),
    via: oneOf(REQUEST_CHANNELS, textFlag(raw, 'via'), '--via'),
    author: textFlag(raw, 'author'),
    sinceSeconds: since === undefined ? undefined : parseDuration(since, '--since'),
  })
}

export function parseEndFilter(raw: RawFilter): EndFilter {
  const states = textFlag(raw, 'status')
    ?.split(',')
    .flatMap((state) => oneOf(RUN_STATES, state, '--status') ?? [])
  const cost = textFlag(raw, 'minCost')
  if (cost !== undefined && !/^\d{1,15}(\.\d{1,12})?$/.test(cost))
    throw new CliError('usage', `--min-cost must be a number of USD such as 0.05, not "${cost}"`)
  const duration = textFlag(raw, 'minDuration')
  return defined({
    status: states,
    model: textFlag(raw, 'model'),
    minCost: cost === undefined ? undefined : Number(cost),
    minDurationMs: duration === undefined ? undefined : parseMilliseconds(duration),
  })
}

export function parseListFilter(raw: RawInput<FlagName<typeof listFlags>>): StartFilter & ListRunsQuery {
  const feedback = oneOf(FEEDBACK_VALUES, textFlag(raw, 'feedback'), '--feedback')
  const from = textFlag(raw, 'from')
  if (from !== undefined && textFlag(raw, 'since') !== undefined)
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

function oneOf<T extends string>(values: readonly T[], given: string | undefined, flag: string): T | undefined {
  const found = values.find((value) => value === given)
  if (given === undefined || found !== undefined) return found
  throw new CliError('usage', `${flag} must be one of ${values.join(', ')}, not "${given}"`)
}

function parseMilliseconds(text: string): number {
  const [, count] = /^(\d{1,9})ms$/.exec(text) ?? []
  return count === undefined ? parseDuration(text, '--min-duration') * 1000 : Number(count)
}
