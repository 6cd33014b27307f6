import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, useRef } from 'react'
import { versionsQuery } from '../../app/queries.ts'
import { stepFrom, useRowKeys, useStepKeys } from '../../app/shortcuts.ts'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty } from '../../ui/states.tsx'
import { VersionList } from './version-list.tsx'

const VersionEntry = lazy(() => import('./entry.tsx'))

const route = getRouteApi('/shell/p/$project/history')
const entryRoute = getRouteApi('/shell/p/$project/history/$entry')

/** Every published version of a project, newest first, and what each one changed. */
export function HistoryPage() {
  const { project } = route.useParams()
  const projectId = Number(project)
  const { entry } = entryRoute.useParams({ shouldThrow: false }) ?? {}
  const { data } = useSuspenseQuery(versionsQuery(projectId))
  const list = useRef<HTMLDivElement>(null)
  useRowKeys(list, 'History')
  const published = data.filter(({ status }) => status === 'merged')
  const shown = published.find(({ uuid }) => uuid === entry)
  const navigate = route.useNavigate()
  useStepKeys('entry', 'History', (step) => {
    const next = stepFrom(published, shown, step)
    if (!next) return
    list.current?.querySelectorAll<HTMLElement>('[data-row]')[published.indexOf(next)]?.focus()
    void navigate({
      to: '/p/$project/history/$entry',
      params: { project, entry: next.uuid },
      search: ({ view }) => (view ? { view } : {}),
    })
  })
  return (
    <Screen>
      <title>{shown ? `v${shown.version} ${shown.title} · stet` : 'History · stet'}</title>
      <ScreenTitle>History</ScreenTitle>
      {published.length === 0 ? (
        <Empty line="Nothing is live yet.">
          <p>
            Publish a draft, or send a folder: <code>stet push --publish</code>
          </p>
        </Empty>
      ) : (
        <div ref={list}>
          <VersionList project={project} versions={published} current={entry} />
        </div>
      )}
      {shown && <VersionEntry key={shown.uuid} projectId={projectId} version={shown} published={published} />}
    </Screen>
  )
}
