import { queryOptions } from '@tanstack/react-query'
import { stet } from '../../app/session.ts'

export function agreementQuery(uuid: string) {
  return queryOptions({
    queryKey: ['evaluation', uuid, 'agreement'],
    queryFn: ({ signal }) => stet.evaluations.agreement(uuid, { signal }),
    staleTime: 0,
  })
}

/** A judge may be in drafts only. */
const mostDrafts = 3

/** Where the prompt of a judge is: in a draft, where it can be edited, otherwise in live. */
export function judgePromptQuery(projectId: number, documentUuid: string | null) {
  return queryOptions({
    queryKey: ['project', projectId, 'judge', documentUuid],
    enabled: documentUuid !== null,
    queryFn: async ({ signal }) => {
      const drafts = await stet.versions.list({ projectId, status: 'draft', signal })
      for (const version of [...drafts.slice(0, mostDrafts).map(({ uuid }) => uuid), 'live']) {
        const { items } = await stet.versions.tree(version, { projectId, signal })
        const found = items.find((item) => item.documentUuid === documentUuid && item.change !== 'deleted')
        if (found) return { version, path: found.path }
      }
      return null
    },
  })
}
