import type { Project } from '@stet/sdk'
import { queryOptions } from '@tanstack/react-query'
import { stet } from '../../app/session.ts'

/** More would be too many requests for one question. */
export const mostProjects = 20

/** The drafts with changes of all people in the first projects, newest first. */
export function draftsQuery(projects: readonly Project[]) {
  const ids = projects.slice(0, mostProjects).map(({ id }) => id)
  return queryOptions({
    queryKey: ['drafts', ids],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(
        ids.map((projectId) => stet.versions.list({ projectId, status: 'draft', signal })),
      )
      const changed = lists.flat().filter(({ changeCount }) => changeCount > 0)
      return changed.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
    },
    refetchInterval: 60_000,
    staleTime: 0,
    gcTime: 0,
  })
}
