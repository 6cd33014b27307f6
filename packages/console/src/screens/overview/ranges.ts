/** The ranges of time that the overview shows, and what its address has. Pure. */

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The server divides up to 3 hours into steps of 5 minutes, up to 48 hours into hours, and more into days in UTC. */
export const ranges = {
  '1h': { name: '1 h', words: 'the last hour', ms: hourMs, pollMs: 10_000 },
  '24h': { name: '24 h', words: 'the last 24 hours', ms: dayMs, pollMs: 10_000 },
  '7d': { name: '7 d', words: 'the last 7 days', ms: 7 * dayMs, pollMs: 60_000 },
  '30d': { name: '30 d', words: 'the last 30 days', ms: 30 * dayMs, pollMs: 60_000 },
  '90d': { name: '90 d', words: 'the last 90 days', ms: 90 * dayMs, pollMs: 60_000 },
} as const

export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]

export const groupNames = ['prompt', 'version', 'model'] as const
export type GroupName = (typeof groupNames)[number]

export interface OverviewSearch {
  /** Default: 24 hours. */
  range?: RangeName
  /** The table has a row for each of these. Default: each prompt. */
  by?: GroupName
  /** Runs of people who try a prompt count too. */
  via?: 'all'
}

/** Reads the search parameters of an address. */
export function overviewSearch({ range, by, via }: Record<string, unknown>): OverviewSearch {
  const ofRange = rangeNames.find((name) => name === range)
  const ofGroup = groupNames.find((name) => name === by)
  return { ...(ofRange && { range: ofRange }), ...(ofGroup && { by: ofGroup }), ...(via === 'all' && { via }) }
}
