import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { isMissing } from '../settings/json-file.ts'

/** Every prompt is one file with this ending. */
export const promptEnding = '.promptl'

/** The server's text of a conflict lies beside the file under this further ending. */
export const remoteEnding = `${promptEnding}.remote`

const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** Why a path cannot be a file, or undefined. Windows' rules hold everywhere: checkouts travel. */
export function problemOfPath(path: string): string | undefined {
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') return 'leaves the folder'
    if (/[\\:*?"<>|\0-\x1f]/.test(segment) || /[. ]$/.test(segment)) return 'holds a character that file names forbid'
    if (reserved.test(segment)) return 'is a name that the system reserves'
  }
  return undefined
}

/** Paths that differ from another one only in case or Unicode form: on some systems they are one file. */
export function findCaseClashes(paths: Iterable<string>): Set<string> {
  const byFolded = new Map<string, string[]>()
  for (const path of new Set(paths)) {
    const folded = path.normalize('NFC').toLowerCase()
    byFolded.set(folded, [...(byFolded.get(folded) ?? []), path])
  }
  return new Set([...byFolded.values()].filter((group) => group.length > 1).flat())
}

/** Whether a file, or the nearest folder of it that exists, really lies within the folder, links followed. */
export async function isWithin(folder: string, file: string): Promise<boolean> {
  const root = await realpathOfNearest(folder)
  const target = await realpathOfNearest(file)
  if (root === undefined || target === undefined) return false
  const way = relative(root, target)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || way.startsWith(sep))
}

// What does not exist yet cannot be a link: its nearest parent decides. A link to nowhere counts as outside.
async function realpathOfNearest(file: string): Promise<string | undefined> {
  try {
    return await realpath(file)
  } catch (error) {
    if (!isMissing(error)) throw error
    const isDeadLink = await lstat(file).then(
      () => true,
      () => false,
    )
    if (isDeadLink || dirname(file) === file) return undefined
    const parent = await realpathOfNearest(dirname(file))
    return parent && join(parent, file.slice(dirname(file).length + (dirname(file).endsWith(sep) ? 0 : 1)))
  }
}
