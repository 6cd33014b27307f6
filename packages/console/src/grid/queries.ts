import type { Experiment, ExperimentRow, ExperimentRowPage, ListExperimentItemsQuery } from '@stet/contract/vocabulary'
import { type QueryClient, queryOptions, useQueries, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { stet } from '../app/session.ts'

/** How often a running experiment is read. */
const pollMs = 2000
/** How often a large one is read, and their list while one runs: the server counts all their items each time. */
const slowPollMs = 10_000
/** An experiment with more items is large. */
const mostPolled = 400
/** More than a window has room for. With four arms and the longest answers, a page has 320 KB. */
const pageSize = 20
const mostListed = 20

/** The newest experiments of a prompt. */
export function experimentsQuery(projectId: number, documentUuid: string) {
  return queryOptions({
    queryKey: ['project', projectId, 'experiments', documentUuid],
    queryFn: async ({ signal }) =>
      (await stet.experiments.list({ projectId, documentUuid, limit: mostListed, signal })).items,
    refetchInterval: ({ state: { data } }) => (data?.some(({ state }) => state === 'running') ? slowPollMs : false),
  })
}

export function experimentQuery(uuid: string) {
  return queryOptions({
    queryKey: ['experiment', uuid],
    queryFn: ({ signal }) => stet.experiments.get(uuid, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.state === 'running' ? pollMsOf(data) : false),
  })
}

const pollMsOf = ({ counts }: Experiment) => (counts.total > mostPolled ? slowPollMs : pollMs)

/** Computed again when an item has ended, and when the experiment has. @param evaluation null for all that count together */
export function reportQuery(experiment: Experiment | undefined, evaluation: string | null) {
  const { uuid = '', state, counts, finishedAt } = experiment ?? {}
  return queryOptions({
    queryKey: ['experiment', uuid, 'report', evaluation, state, finishedAt, counts && counts.ended + counts.failed],
    queryFn: ({ signal }) => stet.experiments.report(uuid, { ...(evaluation && { evaluation }), signal }),
    placeholderData: (report) => (report?.evaluationUuid === evaluation ? report : undefined),
  })
}

export type RowsFilter = Pick<ListExperimentItemsQuery, 'filter' | 'arm' | 'evaluationUuid'>

/** Rows from `from` up to but without `to`. */
export interface Range {
  from: number
  to: number
}

const rowsKey = (uuid: string, ...rest: unknown[]) => ['experiment', uuid, 'rows', ...rest]

/**
 * The rows of an experiment from the first one on. A page is read when it comes near the view. While the experiment
 * runs, pages in view with open items are read again. At its end, and after a change, all pages near the view are.
 */
export function useRows(experiment: Experiment | undefined, filter: RowsFilter, { from, to }: Range) {
  const client = useQueryClient()
  const { uuid = '', projectId, state, finishedAt } = experiment ?? {}
  const pages: { cursor: string | null; isNear: boolean; isInView: boolean }[] = []
  let next: string | null = experiment ? '' : null
  for (let first = 0; next !== null; ) {
    const page: ExperimentRowPage | undefined = client.getQueryData(rowsKey(uuid, filter, next))
    const end: number = first + (page?.items.length ?? pageSize)
    // One page ahead: keys are faster than the server.
    const isNear: boolean = first <= to + pageSize && end > from
    if (!page && !isNear) break
    pages.push({ cursor: next, isNear, isInView: first <= to && end > from })
    next = page?.nextCursor ?? null
    first = end
  }
  const loaded = useQueries({
    queries: pages.map(({ cursor, isNear, isInView }) => ({
      queryKey: rowsKey(uuid, filter, cursor),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        stet.experiments.items(uuid, { ...filter, limit: pageSize, ...(cursor && { cursor }), signal }),
      enabled: isNear,
      staleTime: Number.POSITIVE_INFINITY,
      refetchInterval: ({ state: { data } }: { state: { data?: ExperimentRowPage | undefined } }) =>
        isInView &&
        state === 'running' &&
        (Object.keys(filter).length > 0 || isOpen(data, experiment?.evaluations.length ?? 0))
          ? pollMs
          : false,
    })),
  })
  // The last scores may have come after the last reading. Pages out of view are read when they are seen again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of the experiment
  useEffect(
    () => () => {
      void client.invalidateQueries({ queryKey: rowsKey(uuid) })
      void client.invalidateQueries({ queryKey: ['project', projectId, 'experiments'] })
    },
    [client, uuid, state, finishedAt],
  )
  const failed = loaded.find((page) => page.error)
  return {
    rows: loaded.flatMap(({ data }) => data?.items ?? []),
    isPending: loaded.some((page) => page.isPending),
    /** Whether the last row is among them. */
    isWhole: loaded.at(-1)?.data?.nextCursor === null,
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  }
}

/** A row as the lists show it now. */
export function shownRow(client: QueryClient, experiment: string, exampleUuid: string): ExperimentRow | undefined {
  const pages = client.getQueriesData<ExperimentRowPage>({ queryKey: rowsKey(experiment) })
  return pages.flatMap(([, page]) => page?.items ?? []).find((row) => row.exampleUuid === exampleUuid)
}

/** Shows a change of a row in all lists that have it. */
export function changeRow(
  client: QueryClient,
  experiment: string,
  exampleUuid: string,
  change: (row: ExperimentRow) => ExperimentRow,
): void {
  client.setQueriesData<ExperimentRowPage>(
    { queryKey: rowsKey(experiment) },
    (page) =>
      page && { ...page, items: page.items.map((row) => (row.exampleUuid === exampleUuid ? change(row) : row)) },
  )
}

/** The counts and all rows. */
export function reloadRows(client: QueryClient, uuid: string, isChanged: (filter: object) => boolean = () => true) {
  return client.invalidateQueries({
    queryKey: ['experiment', uuid],
    predicate: ({ queryKey: [, , part, filter] }) =>
      part === 'report' || (part === 'rows' && isChanged(Object(filter))),
  })
}

/** After a label: rows of a filtered list come and go. The other list shows the label already. */
export function reloadCounts(client: QueryClient, uuid: string) {
  return reloadRows(client, uuid, (filter) => Object.keys(filter).length > 0)
}

/** After a change of what examples expect, completed experiments are scored again, and run until that is done. */
export async function reloadScored(client: QueryClient, projectId: number): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: ['experiment'] }),
    client.invalidateQueries({ queryKey: ['project', projectId, 'experiments'] }),
  ])
}

/** Whether the page may change while the experiment runs: items that have not ended, or are not scored yet. */
function isOpen(page: ExperimentRowPage | undefined, evaluations: number): boolean {
  const items = page?.items.flatMap((row) => row.items) ?? []
  return items.some(({ state, scores }) => state === 'waiting' || state === 'running' || scores.length < evaluations)
}
