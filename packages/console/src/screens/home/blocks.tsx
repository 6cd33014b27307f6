import type { Project, Version } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useId } from 'react'
import { toChanges, toPrompt, toPrompts } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { keyOf, useLastPlace, useRecents } from '../../app/frame/place.ts'
import { preferences, type Recent, setPreferences } from '../../app/preferences.ts'
import { useBlocked, useSession } from '../../app/session.ts'
import { costOf, spendOf } from '../../charts/figures.ts'
import { FailedRuns } from '../../runs/failed-runs.tsx'
import { shortUuid } from '../../runs/run-figures.ts'
import { withSigns } from '../../ui/hidden-characters.ts'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { counted, Time } from '../../ui/time.tsx'
import css from './blocks.module.css'
import {
  draftsQuery,
  failureFilter,
  failuresQuery,
  mostProjects,
  queuesQuery,
  spendDays,
  spendQuery,
} from './queries.ts'

interface BlocksProps {
  projects: readonly Project[]
  /** The project whose runs are counted. */
  projectId: number
  version: string
}

/** The person's last places, the drafts that wait for them, and the failures and the spend of the project. */
export function Blocks({ projects, projectId, version }: BlocksProps) {
  const drafts = useQuery(draftsQuery(projects))
  const { author } = useSession().apiKey
  const lacksPublish = useBlocked('publish')
  useShownPlace(projectId, version)
  const isOwn = ({ authorId }: Version) => authorId === author.id
  const own = drafts.data?.filter(isOwn) ?? []
  const others = lacksPublish ? [] : (drafts.data?.filter((draft) => !isOwn(draft)) ?? [])
  const searched = projects.length > mostProjects ? `the first ${mostProjects} projects` : undefined
  const name = projects.length > 1 ? projects.find(({ id }) => id === projectId)?.name : undefined
  return (
    <Screen>
      <title>Home · stet</title>
      <ScreenTitle>Home</ScreenTitle>
      <div className={css['blocks']}>
        <Recents projects={projects} />
        <Block title="My drafts" of={searched}>
          {drafts.error ? (
            <Failure error={drafts.error} what="The drafts could not be loaded" onRetry={drafts.refetch} />
          ) : (
            <Drafts drafts={own} projects={projects} empty={drafts.data && 'No draft of yours has changes.'} />
          )}
        </Block>
        {!drafts.error && (
          <Block title="Waiting for me" of={searched}>
            <Waiting drafts={drafts.data && others} {...{ projects, projectId }} />
          </Block>
        )}
        <Failures projectId={projectId} of={name} />
        <SpendBlock projectId={projectId} of={name} />
      </div>
    </Screen>
  )
}

/** The frame shows the places of this project, also before the person has opened one. */
function useShownPlace(projectId: number, version: string): void {
  const isUnknown = useLastPlace() === undefined
  const { id } = useSession().apiKey.author
  useEffect(() => {
    if (isUnknown)
      setPreferences({ places: { ...preferences().places, [id]: { project: String(projectId), version } } })
  }, [isUnknown, id, projectId, version])
}

interface BlockProps {
  title: string
  /** The projects that were read, if there are others. */
  of?: string | undefined
  children: ReactNode
}

function Block({ title, of, children }: BlockProps) {
  const id = useId()
  return (
    <section className={css['block']} aria-labelledby={id}>
      <h2 id={id} className={css['heading']}>
        {title}
        {of && <span className={css['of']}> in {of}</span>}
      </h2>
      <div className={css['content']}>{children}</div>
    </section>
  )
}

const mostRecents = 6

function Recents({ projects }: Pick<BlocksProps, 'projects'>) {
  const recents = useRecents().filter((recent) => 'run' in recent || nameOf(projects, recent.project) !== undefined)
  return (
    <Block title="Recent">
      {recents.length === 0 ? (
        <p className={css['faint']}>
          Nothing was opened in this browser yet. Prompts of{' '}
          {projects.map(({ id, name }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <Link {...toPrompts(id, 'live')}>{name}</Link>
            </span>
          ))}
        </p>
      ) : (
        <ul className={css['list']}>
          {recents.slice(0, mostRecents).map((recent) => (
            <li key={keyOf(recent)} className={css['row']}>
              <RecentLink recent={recent} />
              {'project' in recent && projects.length > 1 && (
                <span className={css['faint']}>{nameOf(projects, recent.project)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Block>
  )
}

function RecentLink({ recent }: { recent: Recent }) {
  if ('run' in recent) {
    return (
      <Link to="/runs/$run" params={{ run: recent.run }}>
        Run {shortUuid(recent.run)}
      </Link>
    )
  }
  const { project, version, path } = recent
  return <Link {...toPrompt(project, version, path)}>{path}</Link>
}

const nameOf = (projects: readonly Project[], id: string | number) =>
  projects.find((project) => String(project.id) === String(id))?.name

interface DraftsProps {
  drafts: readonly Version[]
  projects: readonly Project[]
  /** Undefined while the drafts are loading. */
  empty: string | undefined
  hasAuthors?: boolean
}

function Drafts({ drafts, projects, empty, hasAuthors }: DraftsProps) {
  if (drafts.length === 0) return <p className={css['faint']}>{empty}</p>
  return (
    <ul className={css['list']}>
      {drafts.slice(0, 5).map(({ uuid, projectId, title, changeCount, authorName, updatedAt }) => (
        <li key={uuid} className={css['row']}>
          <Link {...toChanges(projectId, uuid)}>{withSigns(title)}</Link>
          <span className={css['faint']}>
            {counted(changeCount, 'change')}
            {hasAuthors && ` by ${withSigns(authorName)}`}
            {projects.length > 1 && ` in ${nameOf(projects, projectId)}`}, <Time at={updatedAt} />
          </span>
        </li>
      ))}
      {drafts.length > 5 && <li className={css['faint']}>and {drafts.length - 5} more</li>}
    </ul>
  )
}

interface WaitingProps extends Pick<BlocksProps, 'projects' | 'projectId'> {
  /** Undefined while they are loading. */
  drafts: readonly Version[] | undefined
}

/** Drafts of others that the person may publish, and queues of the project with answers to label. */
function Waiting({ drafts, projects, projectId }: WaitingProps) {
  const lacksRun = useBlocked('run')
  const { data, error, refetch } = useQuery({ ...queuesQuery(projectId), enabled: !lacksRun })
  const queues = lacksRun ? [] : data
  return (
    <>
      {drafts && drafts.length > 0 && <Drafts {...{ drafts, projects }} empty={undefined} hasAuthors />}
      {error && <Failure error={error} what="The queues could not be loaded" onRetry={refetch} />}
      {queues && queues.length > 0 && (
        <ul className={css['list']}>
          {queues.map(({ uuid, name, answers, hasMore }) => (
            <li key={uuid} className={css['row']}>
              <Link to="/p/$project/queue/$evaluation" params={{ project: String(projectId), evaluation: uuid }}>
                {withSigns(name)}
              </Link>
              <span className={css['faint']}>
                {hasMore && 'at least '}
                {counted(answers, 'answer')} to label
                {projects.length > 1 && ` in ${nameOf(projects, projectId)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {drafts?.length === 0 && queues?.length === 0 && (
        <p className={css['faint']}>No draft and no answer waits for you.</p>
      )}
    </>
  )
}

const mostFailures = 5

function Failures({ projectId, of }: { projectId: number; of: string | undefined }) {
  const { data, error, refetch } = useQuery(failuresQuery(projectId))
  if (error)
    return (
      <Block title="Failures" of={of}>
        <Failure error={error} what="The failed runs could not be loaded" onRetry={refetch} />
      </Block>
    )
  const { items = [], hasMore = false } = data ?? {}
  return (
    <Block title="Failures" of={of}>
      {items.length === 0 ? (
        <p className={css['faint']}>{data && 'No run of an application has failed since yesterday.'}</p>
      ) : (
        <>
          <p>
            <Link to="/p/$project/runs" params={{ project: String(projectId) }} search={failureFilter()}>
              {hasMore ? `At least ${items.length} failed runs` : counted(items.length, 'failed run')}
            </Link>{' '}
            since yesterday
          </p>
          <FailedRuns runs={items.slice(0, mostFailures)} />
        </>
      )}
    </Block>
  )
}

const spendNames = { 1: 'Today', 7: '7 days', 30: '30 days' }

function SpendBlock({ projectId, of }: { projectId: number; of: string | undefined }) {
  const { data, error, refetch } = useQuery(spendQuery(projectId))
  const month = data && spendOf(data, 30)
  return (
    <Block title="Spend" of={of}>
      {error && <Failure error={error} what="The spend could not be loaded" onRetry={refetch} />}
      {month?.runs === 0 && <p className={css['faint']}>No run of an application in 30 days.</p>}
      {data && month && month.runs > 0 && (
        <>
          <dl className={css['figures']}>
            {spendDays.map((days) => {
              const spend = spendOf(data, days)
              return (
                <div key={days}>
                  <dt>{spendNames[days]}</dt>
                  <dd>{costOf(spend)}</dd>
                  <dd className={css['faint']}>{counted(spend.runs, 'run')}</dd>
                </div>
              )
            })}
          </dl>
          <p className={css['faint']}>
            {month.unpriced > 0 && `Without ${counted(month.unpriced, 'run')} that have no known price. `}Days are in
            UTC.{' '}
            <Link to="/p/$project/overview" params={{ project: String(projectId) }} search={{ range: '30d' }}>
              Overview
            </Link>
          </p>
        </>
      )}
    </Block>
  )
}
