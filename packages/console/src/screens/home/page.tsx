import type { Project } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useLocation } from '@tanstack/react-router'
import { toPrompt } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { useLastPlace, useLastVersion } from '../../app/frame/place.ts'
import { pathsOf, projectsQuery, treeQuery, versionsQuery } from '../../app/queries.ts'
import { useBlocked, useSession } from '../../app/session.ts'
import { Skeleton } from '../../ui/states.tsx'
import { Blocks } from './blocks.tsx'
import { FirstRun } from './first-run.tsx'
import css from './home.module.css'
import { draftsQuery } from './queries.ts'

/**
 * Shows what waits in the person's last project; without one, in that of their newest draft. A project with one prompt
 * opens that prompt, unless the person asks for this screen. An installation without prompts gets its first one here.
 */
export function HomePage() {
  const projects = useQuery(projectsQuery)
  const place = useLastPlace()
  const last = projects.data?.find(({ id }) => String(id) === place?.project)
  const candidates = last ? [] : (projects.data ?? [])
  const { author } = useSession().apiKey
  const drafts = useQuery({ ...draftsQuery(candidates), enabled: candidates.length > 0 })
  const own = last ? undefined : drafts.data?.find(({ authorId }) => authorId === author.id)
  if (projects.error) {
    return (
      <div className={css['page']}>
        <Failure error={projects.error} what="The projects could not be loaded" onRetry={projects.refetch} />
      </div>
    )
  }
  if (!projects.data || drafts.isLoading) return <Loading />
  if (own) return <Start projects={projects.data} projectId={own.projectId} version={own.uuid} />
  const shown = last ?? projects.data.find(({ liveVersionUuid }) => liveVersionUuid !== null) ?? projects.data[0]
  if (!shown) return <FirstRun projectId={null} />
  const isUsed = projects.data.some(({ liveVersionUuid }) => liveVersionUuid !== null)
  const Shown = isUsed ? LastVersion : Unpublished
  return <Shown projects={projects.data} projectId={shown.id} />
}

interface ShownProject {
  projects: readonly Project[]
  projectId: number
}

/** A project in which nothing was published. If its newest draft has prompts, it is in use. */
function Unpublished({ projects, projectId }: ShownProject) {
  const versions = useQuery(versionsQuery(projectId))
  const draft = versions.data?.[0]?.uuid
  const paths = useQuery({ ...treeQuery(projectId, draft ?? ''), select: pathsOf, enabled: draft !== undefined })
  if (versions.data && !draft) return <FirstRun projectId={projectId} />
  if (paths.data?.length === 0) return <FirstRun projectId={projectId} />
  const isKnown = paths.data || paths.error || versions.error
  return isKnown ? <LastVersion projects={projects} projectId={projectId} /> : <Loading />
}

function LastVersion({ projects, projectId }: ShownProject) {
  const version = useLastVersion(projectId)
  return version ? <Start projects={projects} projectId={projectId} version={version} /> : <Loading />
}

/** Opens the only prompt of a version. With more prompts, or if a draft waits for the person, shows the blocks. */
function Start({ projects, projectId, version }: ShownProject & { version: string }) {
  // The whole location would render `Navigate` again while it navigates, which would never end.
  const isWanted = useLocation({ select: ({ state }) => state.isHomeWanted === true })
  const { data: paths, isLoading } = useQuery({
    ...treeQuery(projectId, version),
    select: pathsOf,
    enabled: !isWanted,
  })
  const isAwaited = useIsAwaited(projects, projectId)
  if (isLoading || isAwaited === undefined) return <Loading />
  const [only, second] = paths ?? []
  if (isWanted || isAwaited || only === undefined || second !== undefined)
    return <Blocks projects={projects} projectId={projectId} version={version} />
  return <Navigate {...toPrompt(projectId, version, only)} replace />
}

/** Whether a draft of somebody else in the project waits for the person. Undefined while that is loading. */
function useIsAwaited(projects: readonly Project[], projectId: number): boolean | undefined {
  const lacksPublish = useBlocked('publish')
  const { author } = useSession().apiKey
  const { data = [], isLoading } = useQuery({ ...draftsQuery(projects), enabled: !lacksPublish })
  if (isLoading) return undefined
  return !lacksPublish && data.some((draft) => draft.projectId === projectId && draft.authorId !== author.id)
}

function Loading() {
  return (
    <div className={css['page']}>
      <title>stet</title>
      <Skeleton />
    </div>
  )
}
