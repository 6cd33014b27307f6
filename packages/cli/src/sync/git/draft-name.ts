import type { Stet } from '@stet/sdk'
import { git } from './git.ts'

/** A default name for a draft: the git branch and commit, or the name of the key that opens it. */
export async function defaultDraftName(folder: string, client: Stet): Promise<string> {
  try {
    const branch = await git(folder, 'rev-parse', '--abbrev-ref', 'HEAD')
    const commit = await git(folder, 'rev-parse', '--short', 'HEAD')
    // The full commit hash, because a later checkout finds its base by it.
    return `${branch.slice(0, 255 - commit.length)}@${commit}`
  } catch {
    // no git, no checkout, or no commit yet
  }
  return `draft of ${(await client.me()).apiKey.name}`.slice(0, 256)
}
