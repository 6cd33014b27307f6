import type { Project } from '@stet/sdk'
import { queryOptions } from '@tanstack/react-query'
import { queryClient, sessionQuery, stet } from '../../app/session.ts'

/** More would be too many requests for one question. */
const mostProjects = 20

/** The newest draft with changes of the person who is signed in, in any of the projects. Null if there is none. */
export function ownDraftQuery(projects: readonly Project[]) {
  const ids = projects.slice(0, mostProjects).map(({ id }) => id)
  return queryOptions({
    queryKey: ['own draft', ids],
    queryFn: async ({ signal }) => {
      const author = queryClient.getQueryData(sessionQuery.queryKey)?.apiKey.author.id
      const lists = await Promise.all(
        ids.map((projectId) => stet.versions.list({ projectId, status: 'draft', signal }).catch(() => [])),
      )
      const own = lists.flat().filter(({ authorId, changeCount }) => authorId === author && changeCount > 0)
      return own.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))[0] ?? null
    },
    staleTime: 0,
    gcTime: 0,
  })
}
