import type { Stats } from '@stet/sdk'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { stet } from '../../app/session.ts'
import { type GroupName, rangeOf } from './ranges.ts'

export interface StatsPlace {
  projectId: number
  /** A name, or an interval. */
  range: string
  by: GroupName
  via: 'api' | 'all'
}

/** As many rows as the server gives. */
const top = 12

/** The stats of a range: all charts and the table. It is not read while the tab is hidden. */
export function statsQuery({ projectId, range, by, via }: StatsPlace) {
  return queryOptions({
    queryKey: ['project', projectId, 'stats', range, by, via],
    queryFn: ({ signal }) => {
      return stet.projects.stats(projectId, { ...timesOf(range), by, via, top, signal })
    },
    refetchInterval: rangeOf(range).pollMs,
    placeholderData: keepPreviousData,
  })
}

/** The range of the same length before that of `stats`. It has ended, so its figures stay. */
export function earlierStatsQuery({ projectId, range, by, via }: StatsPlace, stats: Stats | undefined) {
  const to = stats?.from ?? ''
  return queryOptions({
    queryKey: ['project', projectId, 'stats', range, by, via, to],
    queryFn: ({ signal }) => {
      const from = new Date(Date.parse(to) - rangeOf(range).ms).toISOString()
      return stet.projects.stats(projectId, { from, to, by, via, top, signal })
    },
    enabled: stats !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

function timesOf(range: string): { from: string; to?: string } {
  const { ms, to } = rangeOf(range)
  return { from: new Date((to ? Date.parse(to) : Date.now()) - ms).toISOString(), ...(to && { to }) }
}

const latestErrors = 5

/** The newest failed runs of a range. */
export function latestErrorsQuery({ projectId, range, via }: Omit<StatsPlace, 'by'>) {
  return queryOptions({
    queryKey: ['project', projectId, 'stats', range, via, 'errors'],
    queryFn: async ({ signal }) => {
      const filter = { ...timesOf(range), ...(via === 'api' && { via }), status: ['error' as const] }
      return (await stet.runs.list({ ...filter, projectId, limit: latestErrors, signal })).items
    },
    refetchInterval: rangeOf(range).pollMs,
    placeholderData: keepPreviousData,
  })
}
