import type { RunDetails } from '@stet/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useRef } from 'react'
import { Failure } from '../../../app/failure.tsx'
import { preferences, setPreferences } from '../../../app/preferences.ts'
import { useSession } from '../../../app/session.ts'
import { useStepKeys } from '../../../app/shortcuts.ts'
import { isActiveRun } from '../../../runs/run-figures.ts'
import { join } from '../../../ui/button.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import layout from '../../../ui/styles/layout.module.css'
import { Tabs } from '../../../ui/table.tsx'
import { listOrder, noticeOpened } from '../list-order.ts'
import { RunHead } from './head.tsx'
import css from './inspector.module.css'
import { Messages } from './messages/messages.tsx'
import { runQuery, runsOfQuery } from './queries.ts'
import { Events } from './trace/events.tsx'
import { useFollowed } from './trace/follow-events.ts'
import { Timeline } from './trace/timeline.tsx'
import { Trouble } from './trouble.tsx'

const route = getRouteApi('/shell/runs/$run')

/** Everything that is known about a run, at its one address. */
export function RunPage() {
  const { run: uuid } = route.useParams()
  const run = useQuery(runQuery(uuid))
  const navigate = useNavigate()
  useStepKeys('run', 'Run', (step) => {
    const { uuids } = listOrder.get()
    const next = uuids[uuids.indexOf(run.data?.uuid ?? uuid) + step]
    const isListed = uuids.includes(run.data?.uuid ?? uuid)
    if (!isListed || !next) return
    noticeOpened(next)
    void navigate({ to: '/runs/$run', params: { run: next }, search: ({ tab }) => tabOf(tab), replace: true })
  })
  return (
    <Screen>
      {run.data ? (
        <Inspector key={run.data.uuid} run={run.data} />
      ) : (
        <>
          <title>Run · stet</title>
          <h1 className={css['title']} tabIndex={-1}>
            Run
          </h1>
          {run.error ? (
            <Failure error={run.error} what="The run could not be loaded" onRetry={() => void run.refetch()} />
          ) : (
            <Skeleton lines={8} />
          )}
        </>
      )}
    </Screen>
  )
}

type Tab = 'messages' | 'timeline' | 'events'

function tabOf(tab: unknown): { tab?: 'timeline' | 'events' } {
  return tab === 'timeline' || tab === 'events' ? { tab } : {}
}

function Inspector({ run }: { run: RunDetails }) {
  const { tab = 'messages', at } = route.useSearch()
  const navigate = route.useNavigate()
  const id = useId()
  const runs = useQuery(runsOfQuery(run.conversationUuid))
  const isActive = isActiveRun(run)
  const isRead = isActive || (run.eventsKept && (tab === 'events' || run.status === 'error'))
  const followed = useFollowed(run, isRead)
  useEnd(followed.isOver, !isActive, run.conversationUuid)
  useProjectOf(run)
  useEffect(() => noticeOpened(run.uuid), [run.uuid])
  const open = (place: number | undefined) =>
    void navigate({ search: { ...tabOf(tab), ...(place !== undefined && { at: place }) }, replace: true })
  const missing =
    run.eventsKept || isActive ? null : 'The events of this run were dropped. Its messages and its timeline stay.'
  return (
    <>
      <title>{`${run.path} · run · stet`}</title>
      <RunHead run={run} runs={runs.data ?? []} followed={followed} />
      <Trouble run={run} followed={followed} />
      {followed.error !== null && (
        <Failure
          error={followed.error}
          what="The events could not be read"
          retry="Reconnect"
          onRetry={followed.reconnect}
        />
      )}
      <Tabs<Tab>
        id={id}
        label="Run"
        tabs={[
          { name: 'messages', text: 'Messages' },
          { name: 'timeline', text: 'Timeline' },
          { name: 'events', text: 'Events' },
        ]}
        current={tab}
        onChange={(next) => void navigate({ search: tabOf(next), replace: true })}
      />
      <div
        className={join(layout['far'], css['panel'])}
        role="tabpanel"
        id={`${id}-panel-${tab}`}
        aria-labelledby={`${id}-tab-${tab}`}
      >
        {tab === 'messages' && <Messages run={run} followed={followed} />}
        {tab === 'timeline' && <Timeline run={run} followed={followed} at={at} onOpen={open} />}
        {tab === 'events' && <Events followed={followed} missing={missing} isLive={isActive} at={at} onOpen={open} />}
      </div>
    </>
  )
}

/** The run and its messages are read again at the end of its events, or when its record has ended. */
function useEnd(isOver: boolean, hasEnded: boolean, conversationUuid: string): void {
  const client = useQueryClient()
  useEffect(() => {
    if (isOver && !hasEnded) void client.invalidateQueries({ queryKey: ['run'] })
  }, [isOver, hasEnded, client])
  const wasActive = useRef(!hasEnded)
  useEffect(() => {
    if (hasEnded && wasActive.current)
      void client.invalidateQueries({ queryKey: ['run', 'conversation', conversationUuid] })
    wasActive.current = !hasEnded
  }, [hasEnded, conversationUuid, client])
}

/** A run has no project in its address. The bar shows that of the run. */
function useProjectOf({ projectId }: RunDetails): void {
  const { id } = useSession().apiKey.author
  useEffect(() => {
    const { places } = preferences()
    const project = String(projectId)
    if (places[id]?.project !== project) setPreferences({ places: { ...places, [id]: { project, version: 'live' } } })
  }, [projectId, id])
}
