import { ApiError, type Stet, type UnresolvedPrompt } from '@stet/sdk'

export interface ListedVersion {
  versionUuid: string
  projectId?: number
}

const pageSize = 100

/**
 * Lists a version's prompts without their resolved texts, which no command shows. One response is a single state of the
 * version. Only a version that is too large for one response is read in pages.
 */
export async function listPrompts(client: Stet, version: ListedVersion): Promise<UnresolvedPrompt[]> {
  const options = { ...version, resolved: false } as const
  try {
    return await client.prompts.list(options)
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'list-too-large')) throw error
  }
  const prompts: UnresolvedPrompt[] = []
  for (;;) {
    const last = prompts.at(-1)
    const page = await client.prompts.list({ ...options, limit: pageSize, ...(last && { cursor: last.path }) })
    prompts.push(...page)
    if (page.length < pageSize) return prompts
  }
}
