import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { Failure } from '../../app/failure.tsx'
import { useLastVersion } from '../../app/frame/place.ts'
import { preferences } from '../../app/preferences.ts'
import { pathsOf, projectsQuery, treeQuery, versionsQuery } from '../../app/queries.ts'
import { Skeleton } from '../../ui/states.tsx'
import { FirstRun } from './first-run.tsx'
import css from './home.module.css'

/** Opens the project that was open last, in the draft that was open in it. An installation without prompts gets its first one here. */
export function HomePage() {
  const projects = useQuery(projectsQuery)
  const last = projects.data?.find(({ id }) => String(id) === preferences().project)
  const used = last?.liveVersionUuid ? last : projects.data?.find(({ liveVersionUuid }) => liveVersionUuid !== null)
  const unpublished = last ?? projects.data?.[0]
  if (used) return <Open projectId={last?.id ?? used.id} />
  if (projects.error) {
    return (
      <div className={css['page']}>
        <Failure error={projects.error} what="The projects could not be loaded" onRetry={projects.refetch} />
      </div>
    )
  }
  if (!projects.data) return <Loading />
  return unpublished ? <Unpublished projectId={unpublished.id} /> : <FirstRun projectId={null} />
}

/** A project in which nothing was published. If its newest draft has prompts, it is in use. */
function Unpublished({ projectId }: { projectId: number }) {
  const versions = useQuery(versionsQuery(projectId))
  const draft = versions.data?.[0]?.uuid
  const paths = useQuery({ ...treeQuery(projectId, draft ?? ''), select: pathsOf, enabled: draft !== undefined })
  if (versions.data && !draft) return <FirstRun projectId={projectId} />
  if (paths.data?.length === 0) return <FirstRun projectId={projectId} />
  return paths.data || paths.error || versions.error ? <Open projectId={projectId} /> : <Loading />
}

function Open({ projectId }: { projectId: number }) {
  const version = useLastVersion(projectId)
  if (!version) return <Loading />
  return <Navigate to="/p/$project/v/$version/prompts" params={{ project: String(projectId), version }} replace />
}

function Loading() {
  return (
    <div className={css['page']}>
      <title>stet</title>
      <Skeleton />
    </div>
  )
}
