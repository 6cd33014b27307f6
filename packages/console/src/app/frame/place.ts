import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { usePreferences } from '../preferences.ts'
import { versionsQuery } from '../queries.ts'

/** The project of the address, or the one that was open last. Null if there is neither. */
export function useProjectId(): number | null {
  const { project } = useParams({ strict: false })
  const last = usePreferences().project
  const id = Number(project ?? last)
  return Number.isInteger(id) && id > 0 ? id : null
}

/** The version of the address, `live` or a uuid. Where the address names none, the draft that was open last, or live. */
export function useVersion(): string {
  const { version } = useParams({ strict: false })
  const last = useLastVersion(useProjectId())
  return version ?? last ?? 'live'
}

/** The draft that was open last, or live if it was published or deleted since. Undefined until that is known. */
export function useLastVersion(projectId: number | null): string | undefined {
  const last = usePreferences().version
  const isKnown = last === 'live' || projectId === null
  const { data, isLoading } = useQuery({ ...versionsQuery(projectId ?? 0), enabled: !isKnown })
  if (isLoading) return undefined
  return data?.some(({ uuid, status }) => uuid === last && status === 'draft') ? last : 'live'
}
