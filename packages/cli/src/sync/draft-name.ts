import { execFile } from 'node:child_process'
import { hostname, userInfo } from 'node:os'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A name for a draft that nobody named: the git branch and commit, else the user and the machine. */
export async function defaultDraftName(folder: string): Promise<string> {
  const git = async (...args: string[]): Promise<string> =>
    (await execute('git', args, { cwd: folder, timeout: 5000 })).stdout.trim()
  try {
    const branch = await git('rev-parse', '--abbrev-ref', 'HEAD')
    return `${branch}@${await git('rev-parse', '--short', 'HEAD')}`.slice(0, 256)
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
