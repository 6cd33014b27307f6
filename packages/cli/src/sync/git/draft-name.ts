import { hostname, userInfo } from 'node:os'
import { git } from './git.ts'

/** A name for a draft that nobody named: the git branch and commit, else the user and the machine. */
export async function defaultDraftName(folder: string): Promise<string> {
  try {
    const branch = await git(folder, 'rev-parse', '--abbrev-ref', 'HEAD')
    const commit = await git(folder, 'rev-parse', '--short', 'HEAD')
    // The commit stays whole: a later checkout finds its base by it.
    return `${branch.slice(0, 255 - commit.length)}@${commit}`
  } catch {
    // no git, no checkout, or no commit yet
  }
  let user = 'user'
  try {
    user = userInfo().username
  } catch {
    // a user without an entry in the system's list
  }
  return `${user}@${hostname()}`.slice(0, 256)
}
