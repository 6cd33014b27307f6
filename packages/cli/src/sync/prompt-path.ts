import { existsSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import type { Context } from '../context.ts'
import type { Settings } from '../settings/resolve.ts'
import { isGitFolder } from '../settings/write-file.ts'

export const promptEnding = '.promptl'

/** The server's rules for characters and path length. */
const segmentForm = /^[\p{L}\p{M}\p{Nd}_.-]+$/u
const maxPathBytes = 512

/** File systems allow 255 bytes for a name, including the extension. */
const maxSegmentBytes = 255 - promptEnding.length

const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/**
 * Explains why a path is invalid, or returns undefined. Windows' rules apply everywhere, because checkouts move between
 * systems.
 */
export function problemOfPath(path: string): string | undefined {
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') return 'is outside the folder'
    if (/[\\:*?"<>|\0-\x1f]/.test(segment) || /[. ]$/.test(segment))
      return 'contains a character that is not allowed in file names'
    if (reserved.test(segment)) return 'is a reserved file name on some systems'
    if (isGitFolder(segment)) return 'is a name that git reserves'
    if (!segmentForm.test(segment)) return 'contains characters other than letters, digits, ".", "-" and "_"'
    if (Buffer.byteLength(segment) > maxSegmentBytes) return 'is too long for a file name'
  }
  return Buffer.byteLength(path) > maxPathBytes ? `is longer than ${maxPathBytes} bytes` : undefined
}

/** Finds paths that differ only in case or Unicode form. Some systems treat such paths as one file. */
export function findCaseClashes(paths: Iterable<string>): Set<string> {
  const byFolded = new Map<string, string[]>()
  for (const path of paths) {
    const folded = path.normalize('NFC').toLowerCase()
    byFolded.set(folded, [...(byFolded.get(folded) ?? []), path])
  }
  return new Set([...byFolded.values()].filter((group) => group.length > 1).flat())
}

/** Returns the paths that a name may mean, likeliest first. A name is a prompt, a file or a folder. */
export function promptPathsOf(name: string, promptsDir: string, cwd: string): [string, ...string[]] {
  const plain = name.normalize('NFC').replace(/\.promptl$/, '')
  const path = plain.replaceAll(/^\/+|(?<!\/)\/+$/g, '')
  const way = relative(promptsDir, resolve(cwd, plain)).split(sep).join('/').normalize('NFC')
  const isAround = /^\.\.(\/\.\.)*$/.test(way)
  if (!isAround && /^(\.\.)?\//.test(way)) return [path]
  // A folder that contains the prompts folder selects all prompts.
  const below = isAround ? '' : way
  const isFile = name.endsWith(promptEnding) || /^(\.{0,2}\/|\.{1,2}$)/.test(name)
  return isFile ? [below, path] : [path, below]
}

/** Returns the prompt path for a path or a file name. The file may be missing. */
export async function promptNamed(name: string, ctx: Pick<Context, 'settings' | 'io'>): Promise<string> {
  const promptsDir = promptsDirOf(await ctx.settings())
  const [first, ...others] = promptPathsOf(name, promptsDir, ctx.io.cwd)
  const isHere = (path: string): boolean => existsSync(join(promptsDir, path + promptEnding))
  return isHere(first) ? first : (others.find(isHere) ?? first)
}

export function promptsDirOf({ root, config }: Pick<Settings, 'root' | 'config'>): string {
  return resolve(root, config.promptsDir)
}

/** Applies only the server's rules. A prompt that is not written to a file may have a name that a file cannot have. */
export function isPromptPath(path: string): boolean {
  const segments = path.split('/')
  if (segments.some((segment) => !segmentForm.test(segment) || segment === '.' || segment === '..')) return false
  return Buffer.byteLength(path) <= maxPathBytes && path === path.normalize('NFC')
}
