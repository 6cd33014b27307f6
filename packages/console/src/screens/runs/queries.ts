import type { ListRunsQuery } from '@stet/contract/vocabulary'
import type { Run } from '@stet/sdk'
import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { queryClient, stet } from '../../app/session.ts'
import { isActiveRun } from '../../runs/run-figures.ts'
import type { RunFilter } from '../../runs/run-filter.ts'
import { listedRuns, pollFrom, withPolled } from './new-runs.ts'

export interface LoadedPage {
  items: readonly Run[]
  nextCursor: string | null
  /** Where the search stopped before the page was full. Null if it is full, or came to the oldest run. */
  scannedTo: string | null
}

const pageSize = 50
/** The most that the server gives at once. */
export const pollSize = 100
const pollInterval = 3000
/** So many active runs that a poll has not found are read by their uuid. The others wait for the end of these. */
const mostRead = 10

/** The filter as the API takes it. The states of an address are not checked: the server names a wrong one. */
export function listQuery({ status, via, ...filter }: RunFilter): ListRunsQuery {
  return { ...filter, ...(status && { status: status.split(',') as Run['status'][] }), ...viaQuery(via) }
}

function viaQuery(via: string | undefined): Pick<ListRunsQuery, 'via'> {
  return via ? { via: via as NonNullable<ListRunsQuery['via']> } : {}
}

/** The runs of a project, newest first. A run that ends or starts later comes with `newestQuery`. */
export function runsQuery(projectId: number, filter: RunFilter) {
  return infiniteQueryOptions({
    queryKey: ['project', projectId, 'runs', filter],
    queryFn: async ({ pageParam, signal }): Promise<LoadedPage> => {
      const query = { ...listQuery(filter), projectId, limit: pageSize }
      const page = await stet.runs.list({ ...query, ...(pageParam !== null && { cursor: pageParam }), signal })
      const { items, nextCursor, scannedTo = null } = page
      return { items, nextCursor, scannedTo: items.length < pageSize ? scannedTo : null }
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // Reading all pages again would take a request for each.
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export type LoadedRuns = InfiniteData<LoadedPage, string | null>

/** Writes the current state of shown runs into the list, and returns those that it does not have. Silent while hidden. */
export function newestQuery(projectId: number, filter: RunFilter) {
  const listKey = runsQuery(projectId, filter).queryKey
  return queryOptions({
    queryKey: ['project', projectId, 'new runs', filter],
    queryFn: async ({ signal }): Promise<readonly Run[]> => {
      const { data, dataUpdatedAt = 0 } = queryClient.getQueryState<LoadedRuns>(listKey) ?? {}
      const shown = listedRuns(data?.pages ?? [])
      const from = [pollFrom(shown, dataUpdatedAt), filter.from ?? ''].sort().at(-1)
      const { items } = await stet.runs.list({
        ...listQuery(filter),
        projectId,
        limit: pollSize,
        ...(from && { from }),
        signal,
      })
      const found = new Set(items.map(({ uuid }) => uuid))
      const active = shown.filter((run) => isActiveRun(run) && !found.has(run.uuid)).slice(0, mostRead)
      const read = await Promise.all(active.map(({ uuid }) => stet.runs.list({ projectId, uuid, limit: 1, signal })))
      const known = [...items, ...read.flatMap((page) => page.items)]
      queryClient.setQueryData<LoadedRuns>(
        listKey,
        (now) => now && { ...now, pages: now.pages.map((page) => ({ ...page, items: withPolled(page.items, known) })) },
      )
      return items
    },
    refetchInterval: pollInterval,
    staleTime: 0,
    gcTime: 0,
  })
}

/** Puts new runs above the others. The whole list is read again if there may be more than were polled. */
export function showNew(projectId: number, filter: RunFilter, fresh: readonly Run[]): void {
  const { queryKey } = runsQuery(projectId, filter)
  if (fresh.length >= pollSize) return void queryClient.resetQueries({ queryKey })
  queryClient.setQueryData<LoadedRuns>(queryKey, (now) => {
    const [first, ...rest] = now?.pages ?? []
    return now && first && { ...now, pages: [{ ...first, items: [...fresh, ...first.items] }, ...rest] }
  })
}

/** The tags of the last 30 days, the most frequent first. */
export function tagsQuery(projectId: number) {
  return queryOptions({
    queryKey: ['project', projectId, 'tags'],
    queryFn: ({ signal }) => stet.projects.tags({ projectId, signal }),
    staleTime: 60_000,
  })
}
