import type { Stats } from '@stet/sdk'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { stet } from '../../app/session.ts'
import { type GroupName, type RangeName, ranges } from './ranges.ts'

export interface StatsPlace {
  projectId: number
  range: RangeName
  by: GroupName
  via: 'api' | 'all'
}

/** As many rows as the server gives. */
const top = 12

/** The stats of a range that ends now: all charts and the table. It is not read while the tab is hidden. */
export function statsQuery({ projectId, range, by, via }: StatsPlace) {
  return queryOptions({
    queryKey: ['project', projectId, 'stats', range, by, via],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - ranges[range].ms).toISOString()
      return stet.projects.stats(projectId, { from, by, via, top, signal })
    },
    refetchInterval: ranges[range].pollMs,
    placeholderData: keepPreviousData,
  })
}

/** The range of the same length before that of `stats`. It has ended, so its figures stay. */
export function earlierStatsQuery({ projectId, range, by, via }: StatsPlace, stats: Stats | undefined) {
  const to = stats?.from ?? ''
  return queryOptions({
    queryKey: ['project', projectId, 'stats', range, by, via, to],
    queryFn: ({ signal }) => {
      const from = new Date(Date.parse(to) - ranges[range].ms).toISOString()
      return stet.projects.stats(projectId, { from, to, by, via, top, signal })
    },
    enabled: stats !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
}
