import { versionsQuery } from '../../../app/queries.ts'
import { queryClient } from '../../../app/session.ts'

/** The version in an address: `live` for the one that live serves, so that typing there goes into a draft. */
export function versionRef(projectId: number, versionUuid: string): string {
  const versions = queryClient.getQueryData(versionsQuery(projectId).queryKey)
  return versions?.some(({ uuid, isLive }) => isLive && uuid === versionUuid) ? 'live' : versionUuid
}
