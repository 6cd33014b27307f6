import { useParams } from '@tanstack/react-router'
import { usePreferences } from '../preferences.ts'

/** The project of the address, or the one that was open last. Null if there is neither. */
export function useProjectId(): number | null {
  const { project } = useParams({ strict: false })
  const last = usePreferences().project
  const id = Number(project ?? last)
  return Number.isInteger(id) && id > 0 ? id : null
}

/** The version of the address, `live` or a uuid, and live where the address names none. */
export function useVersion(): string {
  const { version = 'live' } = useParams({ strict: false })
  return version
}
