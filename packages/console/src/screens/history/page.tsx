import { infiniteQueryOptions, useSuspenseInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { toEntry } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { listInterval, versionsQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { stepFrom, useRowKeys, useStepKeys } from '../../app/shortcuts.ts'
import { Button, join } from '../../ui/button.tsx'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { HistoryList } from './history-list.tsx'
import { historyRows, type TextsRow } from './history-rows.ts'
import css from './page.module.css'

const HistoryEntry = lazy(() => import('./entry.tsx'))

const route = getRouteApi('/shell/p/$project/history')
const entryRoute = getRouteApi('/shell/p/$project/history/$entry')

/** Everything that live has served, newest first: versions with their revisions, what each changed, and rollbacks. */
export function HistoryPage() {
  const { project } = route.useParams()
  const projectId = Number(project)
  const { entry } = entryRoute.useParams({ shouldThrow: false }) ?? {}
  const { data: versions } = useSuspenseQuery(versionsQuery(projectId))
  const releases = useSuspenseInfiniteQuery(releasesQuery(projectId))
  const list = useRef<HTMLDivElement>(null)
  useRowKeys(list, 'History')
  const published = versions.filter(({ status }) => status === 'merged')
  const rows = historyRows(published, releases.data)
  const texts = rows.filter((row): row is TextsRow => row.kind !== 'rollback')
  const shown = texts.find((row) => row.entry === entry)
  const navigate = route.useNavigate()
  const rowOf = (row: TextsRow) =>
    list.current?.querySelectorAll<HTMLElement>('[data-row]')[
      rows.findIndex((other) => other.kind !== 'rollback' && other.entry === row.entry)
    ]
  // On a narrow screen the list is back at the row that was open.
  const open = useRef(shown)
  useEffect(() => {
    if (open.current && !shown) rowOf(open.current)?.focus()
    open.current = shown
  })
  useStepKeys('entry', 'History', (step) => {
    const next = stepFrom(texts, shown, step)
    if (!next) return
    rowOf(next)?.focus()
    void navigate({ ...toEntry(project, next.entry), search: ({ view }) => (view ? { view } : {}) })
  })
  return (
    <Screen>
      <title>{shown ? `${shown.name} ${shown.version.title} · stet` : 'History · stet'}</title>
      <ScreenTitle>History</ScreenTitle>
      <div className={join(css['history'], shown && css['isOpen'])}>
        <div ref={list} className={css['list']}>
          {published.length === 0 ? (
            <Empty line="Nothing is live yet.">
              <p>
                Publish a draft, or send a folder: <code>stet push --publish</code>
              </p>
            </Empty>
          ) : (
            <HistoryList project={project} rows={rows} current={shown} />
          )}
          {releases.isFetchNextPageError ? (
            <Failure
              error={releases.error}
              what="The earlier rollbacks could not be loaded"
              onRetry={() => void releases.fetchNextPage()}
            />
          ) : (
            releases.hasNextPage && (
              <Button busy={releases.isFetchingNextPage} onClick={() => releases.fetchNextPage()}>
                Show earlier rollbacks
              </Button>
            )
          )}
        </div>
        {shown && (
          // Of its own, because the screen would give up the focus while it is hidden.
          <Suspense fallback={<Skeleton lines={6} />}>
            <HistoryEntry
              key={shown.entry}
              projectId={projectId}
              row={shown}
              live={texts.find(({ isLive }) => isLive)}
            />
          </Suspense>
        )}
      </div>
    </Screen>
  )
}

/** The versions that live has served, newest first, in the longest pages that the server gives. */
function releasesQuery(projectId: number) {
  return infiniteQueryOptions({
    queryKey: ['project', projectId, 'releases'],
    queryFn: async ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam }
      const { items, nextCursor } = await stet.environments.releases('live', {
        projectId,
        limit: 100,
        ...cursor,
        signal,
      })
      return { items, nextCursor }
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: listInterval,
    select: ({ pages }) => ({
      items: pages.flatMap(({ items }) => items),
      isComplete: pages.at(-1)?.nextCursor === null,
    }),
  })
}
