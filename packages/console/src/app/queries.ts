import type { ProviderKind } from '@stet/contract/vocabulary'
import { ApiError, type Run, type TreeItem } from '@stet/sdk'
import { queryOptions } from '@tanstack/react-query'
import { stet } from './session.ts'

/** Lists are read again every 10 s while their tab is visible. */
export const listInterval = 10_000

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => stet.projects.list({ signal }),
  refetchInterval: listInterval,
})

/** The versions of a project: drafts first, then published ones, newest first. */
export function versionsQuery(projectId: number) {
  return queryOptions({
    queryKey: ['project', projectId, 'versions'],
    queryFn: ({ signal }) => stet.versions.list({ projectId, signal }),
    refetchInterval: listInterval,
  })
}

/** One version, also if the list does not have it yet. */
export function versionQuery(projectId: number, versionUuid: string) {
  return queryOptions({
    queryKey: ['project', projectId, 'version', versionUuid],
    queryFn: ({ signal }) => stet.versions.get(versionUuid, { projectId, signal }),
    // It is asked for when the list has it no longer, so what was read before proves nothing.
    staleTime: 0,
  })
}

/** A deleted draft, as long as it can be restored, otherwise null. */
export function deletedDraftQuery(projectId: number, versionUuid: string) {
  return queryOptions({
    queryKey: ['project', projectId, 'deleted', versionUuid],
    queryFn: async ({ signal }) => {
      const drafts = await stet.versions.list({ projectId, status: 'draft', deleted: true, signal })
      return drafts.find(({ uuid }) => uuid === versionUuid) ?? null
    },
    // It may have been restored and deleted again a moment ago.
    staleTime: 0,
  })
}

/** The prompts of a version without their texts, and what a draft changes. */
export function treeQuery(projectId: number, versionUuid: string) {
  return queryOptions({
    queryKey: ['project', projectId, 'tree', versionUuid],
    queryFn: async ({ signal }) => {
      try {
        return (await stet.versions.tree(versionUuid, { projectId, signal })).items
      } catch (error) {
        // The only draft of a project was deleted.
        if (error instanceof ApiError && error.reason === 'nothing-live') return []
        throw error
      }
    },
    refetchInterval: listInterval,
    // Typing on live changes the version. The list stays until that of the draft arrives.
    placeholderData: (items, query) => (query?.queryKey[1] === projectId ? items : undefined),
  })
}

/** For the `select` of `treeQuery`: the paths of the prompts that the version shows. */
export function pathsOf(items: readonly TreeItem[]): string[] {
  return items.filter(({ change }) => change !== 'deleted').map(({ path }) => path)
}

/**
 * The changes of a version: a draft in live, a published version in `base`.
 *
 * @param version a uuid, or `<uuid>@<revision>`, like `base`
 */
export function diffQuery(projectId: number, version: string, base?: string) {
  return queryOptions({
    queryKey: ['project', projectId, 'diff', version, base],
    queryFn: ({ signal }) => stet.versions.diff(version, { projectId, ...(base && { base }), signal }),
  })
}

/** The providers that prompts can use, as every key may see them. Mutations of provider keys invalidate it. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => stet.providers.list({ signal }),
  staleTime: 60_000,
})

/** The models of a provider type in the price table. Needs no stored key of that type. */
export function modelsQuery(modelsOf: ProviderKind) {
  return queryOptions({
    queryKey: ['models', modelsOf],
    queryFn: async ({ signal }) => (await stet.providers.list({ modelsOf, signal })).flatMap(({ models }) => models),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The examples of a prompt, in the order in which they were made. */
export function examplesQuery(projectId: number, documentUuid: string) {
  return queryOptions({
    queryKey: ['project', projectId, 'examples', documentUuid],
    queryFn: ({ signal }) => stet.examples.list(documentUuid, { projectId, signal }),
    refetchInterval: listInterval,
  })
}

/**
 * The runs whose uuid, or that of their conversation, starts with these digits.
 *
 * @param projectId null finds whole uuids only, as they are found in every project
 */
export function foundRunsQuery(projectId: number | null, prefix: string) {
  return queryOptions({
    queryKey: ['found runs', projectId, prefix],
    queryFn: async ({ signal }): Promise<readonly Run[]> => {
      const items =
        projectId === null ? [] : (await stet.runs.list({ projectId, uuid: prefix, limit: 20, signal })).items
      if (items.length > 0 || prefix.replaceAll('-', '').length < 32) return items
      try {
        return [await stet.runs.get(prefix, { signal })]
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return []
        throw error
      }
    },
  })
}
