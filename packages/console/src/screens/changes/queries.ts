import { NotFoundError, type Prompt, type Version } from '@stet/sdk'
import { stet } from '../../app/session.ts'

/** How many published versions are searched for the text that a change is based on, newest first. */
const searchedVersions = 20

/**
 * Returns the newest published text with this hash, or null. It is the common ancestor of a conflict: what both live
 * and the draft changed.
 *
 * @param published newest first
 */
export async function findBase(
  published: readonly Version[],
  { projectId, path, baseHash }: { projectId: number; path: string; baseHash: string | null },
): Promise<string | null> {
  if (baseHash === null) return null
  for (const { uuid } of published.slice(0, searchedVersions)) {
    const prompt = await promptIn(projectId, uuid, path)
    if (prompt?.contentHash === baseHash) return prompt.content
  }
  return null
}

/** Returns null if the version has no prompt at this path. */
export async function promptIn(projectId: number, versionUuid: string, path: string): Promise<Prompt | null> {
  return stet.prompts.get(path, { projectId, versionUuid }).catch((error: unknown) => {
    if (error instanceof NotFoundError) return null
    throw error
  })
}
