import { useSuspenseInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, useEffect, useRef } from 'react'
import { Failure } from '../../app/failure.tsx'
import { versionsQuery } from '../../app/queries.ts'
import { stepFrom, useRowKeys, useStepKeys } from '../../app/shortcuts.ts'
import { Button, join } from '../../ui/button.tsx'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty } from '../../ui/states.tsx'
import { HistoryList } from './history-list.tsx'
import { historyRows, type TextsRow } from './history-rows.ts'
import css from './page.module.css'
import { releasesQuery } from './queries.ts'

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
    void navigate({
      to: '/p/$project/history/$entry',
      params: { project, entry: next.entry },
      search: ({ view }) => (view ? { view } : {}),
    })
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
          <HistoryEntry key={shown.entry} projectId={projectId} row={shown} live={texts.find(({ isLive }) => isLive)} />
        )}
      </div>
    </Screen>
  )
}
