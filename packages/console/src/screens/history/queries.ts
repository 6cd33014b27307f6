import { infiniteQueryOptions } from '@tanstack/react-query'
import { listInterval } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'

/** The versions that live has served, newest first, in the longest pages that the server gives. */
export function releasesQuery(projectId: number) {
  return infiniteQueryOptions({
    queryKey: ['project', projectId, 'releases'],
    queryFn: async ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam }
      const { items, nextCursor } = await stet.environments.releases('live', {
        projectId,
        limit: 100,
        ...cursor,
        signal,
      })
      return { items, nextCursor }
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: listInterval,
    select: ({ pages }) => ({
      items: pages.flatMap(({ items }) => items),
      isComplete: pages.at(-1)?.nextCursor === null,
    }),
  })
}
