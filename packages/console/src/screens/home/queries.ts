import type { Project } from '@stet/sdk'
import { queryOptions } from '@tanstack/react-query'
import { stet } from '../../app/session.ts'

const dayMs = 86_400_000
const interval = 30_000

/** The start of yesterday in the user's zone. */
function yesterday(): Date {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1)
}

/** The filter of the failed runs of applications since yesterday, for the API and for the list of runs. */
export function failureFilter() {
  return { status: 'error', via: 'api', from: yesterday().toISOString() } as const
}

/** The failed runs of applications since yesterday, newest first. A page of the list also counts them, up to 100. */
export function failuresQuery(projectId: number) {
  return queryOptions({
    queryKey: ['project', projectId, 'failures'],
    queryFn: async ({ signal }) => {
      const filter = failureFilter()
      const { items, nextCursor } = await stet.runs.list({
        ...filter,
        ...{ projectId, signal, limit: 100, status: [filter.status] },
      })
      return { items, hasMore: nextCursor !== null }
    },
    refetchInterval: interval,
  })
}

export const spendDays = [1, 7, 30] as const

/** The runs of the last 30 days by day, today included. Days are those of UTC. */
export function spendQuery(projectId: number) {
  return queryOptions({
    queryKey: ['project', projectId, 'spend'],
    queryFn: ({ signal }) => {
      const today = Math.floor(Date.now() / dayMs)
      const from = new Date((today - 29) * dayMs).toISOString()
      return stet.projects.stats(projectId, { from, signal })
    },
    refetchInterval: interval,
  })
}

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

/** More would be too many requests for one block. */
const mostQueues = 10

/** The judges and the evaluations by people whose newest answers lack a label, with the number of a queue's first page. */
export function queuesQuery(projectId: number) {
  return queryOptions({
    queryKey: ['project', projectId, 'queues'],
    queryFn: async ({ signal }) => {
      const evaluations = await stet.evaluations.list({ projectId, signal })
      const labeled = evaluations
        .filter(({ type, metric, builtIn }) => type !== 'rule' && metric === 'binary' && builtIn === null)
        .slice(0, mostQueues)
      const queues = []
      // One after the other: each page may read many answers, and every open home screen asks each minute.
      for (const { uuid, name } of labeled) {
        const { items, nextCursor } = await stet.evaluations.queue(uuid, { projectId, signal })
        if (items.length > 0) queues.push({ uuid, name, answers: items.length, hasMore: nextCursor !== null })
      }
      return queues
    },
    refetchInterval: 60_000,
  })
}
