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
  const projectId = useProjectId()
  const last = usePreferences().version
  const isWanted = version === undefined && projectId !== null && last !== 'live'
  const { data } = useQuery({ ...versionsQuery(projectId ?? 0), enabled: isWanted })
  if (version !== undefined) return version
  return isWanted && data?.some(({ uuid, status }) => uuid === last && status === 'draft') ? last : 'live'
}
