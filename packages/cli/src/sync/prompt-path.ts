import { existsSync } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Context } from '../context.ts'
import { isJsonObject, isMissing } from '../settings/json-file.ts'
import type { Settings } from '../settings/resolve.ts'

/** Every prompt is one file with this ending. */
export const promptEnding = '.promptl'

/** The server's text of a conflict lies beside the file under this further ending. */
export const remoteEnding = `${promptEnding}.remote`

/** What the server takes as a part of a path, and how long a path may be. */
const segmentForm = /^[\p{L}\p{M}\p{Nd}_.-]+$/u
const maxPathBytes = 512

/** File systems take 255 bytes, the ending included. */
const maxSegmentBytes = 255 - promptEnding.length

const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** Why a path cannot be a prompt and a file, or undefined. Windows' rules hold everywhere: checkouts travel. */
export function problemOfPath(path: string): string | undefined {
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') return 'leaves the folder'
    if (/[\\:*?"<>|\0-\x1f]/.test(segment) || /[. ]$/.test(segment)) return 'holds a character that file names forbid'
    if (reserved.test(segment)) return 'is a name that the system reserves'
    if (!segmentForm.test(segment)) return 'holds something else than letters, digits, ".", "-" and "_"'
    if (Buffer.byteLength(segment) > maxSegmentBytes) return 'is too long for a file name'
  }
  return Buffer.byteLength(path) > maxPathBytes ? `is longer than ${maxPathBytes} bytes` : undefined
}

/** Paths that differ from another one only in case or Unicode form, or not at all: on some systems they are one file. */
export function findCaseClashes(paths: Iterable<string>): Set<string> {
  const byFolded = new Map<string, string[]>()
  for (const path of paths) {
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
    if (isJsonObject(error) && error['code'] === 'ELOOP') return undefined
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

/**
 * The paths that a name on the command line may stand for, the likeliest first: a prompt is named by its path or by its file, a
 * folder too, as a shell completes them.
 */
export function promptPathsOf(name: string, promptsDir: string, cwd: string): [string, ...string[]] {
  const plain = name.normalize('NFC').replace(/\.promptl$/, '')
  const path = plain.replaceAll(/^\/+|(?<!\/)\/+$/g, '')
  const way = relative(promptsDir, resolve(cwd, plain)).split(sep).join('/').normalize('NFC')
  const isAround = /^\.\.(\/\.\.)*$/.test(way)
  if (!isAround && /^(\.\.)?\//.test(way)) return [path]
  // A folder around the prompts stands for all of them.
  const below = isAround ? '' : way
  const isFile = name.endsWith(promptEnding) || /^(\.{0,2}\/|\.{1,2}$)/.test(name)
  return isFile ? [below, path] : [path, below]
}

/** The one prompt that somebody named by its path or its file; it need not be a file here. */
export async function promptNamed(name: string, ctx: Pick<Context, 'settings' | 'io'>): Promise<string> {
  const promptsDir = promptsDirOf(await ctx.settings())
  const [first, ...others] = promptPathsOf(name, promptsDir, ctx.io.cwd)
  const isHere = (path: string): boolean => existsSync(join(promptsDir, path + promptEnding))
  return isHere(first) ? first : (others.find(isHere) ?? first)
}

/** The folder of the prompt files. */
export function promptsDirOf({ root, config }: Pick<Settings, 'root' | 'config'>): string {
  return resolve(root, config.promptsDir)
}
