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

export interface Range {
  words: string
  ms: number
  /** False for a range that has an end, whose figures stay. */
  pollMs: number | false
  /** Undefined for a range that ends now. */
  to?: string
}

export interface OverviewSearch {
  /** A name, or an interval of ISO 8601: two instants with a slash between them. Default: 24 hours. */
  range?: string
  /** The table has a row for each of these. Default: each prompt. */
  by?: GroupName
  /** Runs of people who try a prompt count too. */
  via?: 'all'
}

/** The server gives the figures of at most this time. */
const mostDays = 366

/** Writes an interval. Null if it is empty or longer than the server's limit, or if an instant is none. */
export function intervalOf(from: string, to: string): string | null {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  if (!(end > start) || end - start > mostDays * dayMs) return null
  return `${new Date(start).toISOString()}/${new Date(end).toISOString()}`
}

/** @param text as `overviewSearch` returns it */
export function rangeOf(text: string): Range {
  const name = rangeNames.find((one) => one === text)
  if (name) return ranges[name]
  const [from = '', to = ''] = text.split('/')
  return { words: 'the chosen time', ms: Date.parse(to) - Date.parse(from), pollMs: false, to }
}

/** Reads the search parameters of an address. */
export function overviewSearch({ range, by, via }: Record<string, unknown>): OverviewSearch {
  const [from = '', to = ''] = typeof range === 'string' ? range.split('/') : []
  const ofRange = rangeNames.find((name) => name === range) ?? intervalOf(from, to)
  const ofGroup = groupNames.find((name) => name === by)
  return { ...(ofRange && { range: ofRange }), ...(ofGroup && { by: ofGroup }), ...(via === 'all' && { via }) }
}
