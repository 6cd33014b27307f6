import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../exit-code.ts'
import { matcherOf } from '../settings/glob.ts'
import { isMissing } from '../settings/json-file.ts'
import type { Settings } from '../settings/resolve.ts'
import { isGitFolder, isWithin } from '../settings/write-file.ts'
import { type HashedText, hashBytes } from './hash.ts'
import { findCaseClashes, problemOfPath, promptEnding, promptsDirOf } from './prompt-path.ts'

export interface LocalPrompt extends HashedText {
  file: string
}

export interface Refusal {
  /** A trailing slash marks a whole folder. */
  path: string
  reason: string
}

export interface Scan {
  prompts: Map<string, LocalPrompt>
  refused: Refusal[]
  /** Patterns that match no prompt file. Empty if the folder has no prompt files. */
  idlePatterns: { list: 'include' | 'ignore'; pattern: string }[]
}

export async function scanProject(settings: Settings, warn: (message: string) => void): Promise<Scan> {
  const { promptsDir, include, ignore } = settings.config
  const scan = await scanPrompts(promptsDirOf(settings), include, ignore)
  for (const { list, pattern } of scan.idlePatterns) {
    warn(`${list}: the pattern "${pattern}" matches no prompt file; patterns are relative to ${promptsDir}`)
  }
  return scan
}

/** A command that compares files treats an empty folder as an error: a checkout or a setting is probably wrong. */
export const allowEmptyFlag = { '--allow-empty': 'accept a folder without prompt files' } as const

/**
 * Throws if the folder has no prompt files at all, or none that the patterns include. `allowsEmpty` is undefined for a
 * command without the flag.
 */
export function refuseEmpty({ prompts, refused }: Scan, { config }: Settings, allowsEmpty?: boolean): void {
  if (allowsEmpty || prompts.size > 0 || refused.length > 0) return
  const ways = ['check promptsDir, include and ignore in stet.config.json', 'run stet pull']
  if (allowsEmpty !== undefined) ways.push('pass --allow-empty')
  throw new CliError('usage', `No prompt files in ${config.promptsDir}`, { hint: ways.join(', or ') })
}

export async function scanPrompts(
  folder: string,
  include: readonly string[],
  ignore: readonly string[],
): Promise<Scan> {
  const scan: Scan = { prompts: new Map(), refused: [], idlePatterns: [] }
  const isIncluded = matcherOf(include)
  const isIgnored = matcherOf(ignore)
  const found: string[] = []
  let hasPromptFile = false
  for (const name of await listFiles(folder, '', { isIgnored, refused: scan.refused })) {
    if (!name.endsWith(promptEnding)) continue
    hasPromptFile = true
    const [isWanted, isUnwanted] = [isIncluded(name), isIgnored(name)]
    if (isWanted && !isUnwanted) found.push(name)
  }
  if (hasPromptFile) {
    for (const pattern of isIncluded.idle()) scan.idlePatterns.push({ list: 'include', pattern })
    for (const pattern of isIgnored.idle()) scan.idlePatterns.push({ list: 'ignore', pattern })
  }
  const clashes = findCaseClashes(found.map(pathOf))
  for (const name of found) {
    const path = pathOf(name)
    const problem = clashes.has(path) ? clashOf(path, found) : problemOfPath(path)
    if (!problem) scan.prompts.set(path, await readPrompt(join(folder, name)))
    else if (!scan.refused.some((one) => one.path === path)) scan.refused.push({ path, reason: problem })
  }
  return scan
}

// The server stores paths in NFC. Some file systems return another form.
function pathOf(name: string): string {
  return name.slice(0, -promptEnding.length).normalize('NFC')
}

function clashOf(path: string, names: readonly string[]): string {
  const isOnePath = names.filter((name) => pathOf(name) === path).length > 1
  return isOnePath
    ? 'matches two files whose names differ only in Unicode form'
    : 'differs from another path only in case'
}

/** Returns whether the scan skipped a path. A skipped path may still exist, so it must not count as deleted. */
export function isLeftOut(path: string, refused: readonly Refusal[]): boolean {
  return refused.some((one) => one.path === path || (one.path.endsWith('/') && path.startsWith(one.path)))
}

async function readPrompt(file: string): Promise<LocalPrompt> {
  const hashed = hashBytes(await readFile(file))
  if (!hashed) throw new CliError('invalid', `${file} is not UTF-8`, { hint: 'save it as UTF-8' })
  return { ...hashed, file }
}

interface Listing {
  isIgnored(name: string): boolean
  refused: Refusal[]
}

async function listFiles(root: string, below: string, listing: Listing): Promise<string[]> {
  const names: string[] = []
  for (const entry of await readFolder(join(root, below))) {
    const name = below ? `${below}/${entry.name}` : entry.name
    // Branches are files in here, and their names may end like a prompt's.
    if (isGitFolder(entry.name)) continue
    if (entry.isDirectory()) names.push(...(await listFiles(root, name, listing)))
    else if (entry.isFile() || (entry.isSymbolicLink() && (await leadsToFile(root, name, listing)))) names.push(name)
  }
  return names
}

// Accepts only links to files inside the folder. Following a link to a parent folder would never end.
async function leadsToFile(root: string, name: string, { isIgnored, refused }: Listing): Promise<boolean> {
  const target = await stat(join(root, name)).catch(() => undefined)
  if (await isWithin(root, join(root, name))) return target?.isFile() === true
  // Reports a link that leads outside if it is a prompt or a folder. Ignores other links, such as a link to a license.
  const isPrompt = name.endsWith(promptEnding)
  if ((isPrompt || target?.isDirectory()) && !isIgnored(isPrompt ? name : `${name}/x${promptEnding}`)) {
    refused.push({ path: isPrompt ? pathOf(name) : `${name}/`, reason: 'is a link that leads outside the folder' })
  }
  return false
}

async function readFolder(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
