import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { Failure } from '../../app/failure.tsx'
import { useLastPlace, useLastVersion } from '../../app/frame/place.ts'
import { pathsOf, projectsQuery, treeQuery, versionsQuery } from '../../app/queries.ts'
import { Skeleton } from '../../ui/states.tsx'
import { FirstRun } from './first-run.tsx'
import css from './home.module.css'
import { ownDraftQuery } from './own-draft.ts'

/**
 * Opens the person's last project, in the draft that was open in it. Without one, it is the project with their newest
 * draft. An installation without prompts gets its first one here.
 */
export function HomePage() {
  const projects = useQuery(projectsQuery)
  const place = useLastPlace()
  const last = projects.data?.find(({ id }) => String(id) === place?.project)
  const candidates = last ? [] : (projects.data ?? [])
  const own = useQuery({ ...ownDraftQuery(candidates), enabled: candidates.length > 0 })
  if (projects.error) {
    return (
      <div className={css['page']}>
        <Failure error={projects.error} what="The projects could not be loaded" onRetry={projects.refetch} />
      </div>
    )
  }
  if (!projects.data || own.isLoading) return <Loading />
  if (own.data) return <Open projectId={own.data.projectId} version={own.data.uuid} />
  const shown = last ?? projects.data.find(({ liveVersionUuid }) => liveVersionUuid !== null) ?? projects.data[0]
  if (!shown) return <FirstRun projectId={null} />
  const isUsed = projects.data.some(({ liveVersionUuid }) => liveVersionUuid !== null)
  return isUsed ? <OpenLast projectId={shown.id} /> : <Unpublished projectId={shown.id} />
}

/** A project in which nothing was published. If its newest draft has prompts, it is in use. */
function Unpublished({ projectId }: { projectId: number }) {
  const versions = useQuery(versionsQuery(projectId))
  const draft = versions.data?.[0]?.uuid
  const paths = useQuery({ ...treeQuery(projectId, draft ?? ''), select: pathsOf, enabled: draft !== undefined })
  if (versions.data && !draft) return <FirstRun projectId={projectId} />
  if (paths.data?.length === 0) return <FirstRun projectId={projectId} />
  return paths.data || paths.error || versions.error ? <OpenLast projectId={projectId} /> : <Loading />
}

function OpenLast({ projectId }: { projectId: number }) {
  const version = useLastVersion(projectId)
  return version ? <Open projectId={projectId} version={version} /> : <Loading />
}

/** Opens the prompts of a version. If there is only one, it opens that one. */
function Open({ projectId, version }: { projectId: number; version: string }) {
  const { data: paths, isLoading } = useQuery({ ...treeQuery(projectId, version), select: pathsOf })
  if (isLoading) return <Loading />
  const [only, second] = paths ?? []
  const params = { project: String(projectId), version }
  if (only === undefined || second !== undefined)
    return <Navigate to="/p/$project/v/$version/prompts" params={params} replace />
  return <Navigate to="/p/$project/v/$version/prompts/$" params={{ ...params, _splat: only }} replace />
}

function Loading() {
  return (
    <div className={css['page']}>
      <title>stet</title>
      <Skeleton />
    </div>
  )
}
