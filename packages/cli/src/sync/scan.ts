import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../exit-code.ts'
import { isMissing } from '../settings/json-file.ts'
import { matcherOf } from './glob.ts'
import { type HashedText, hashBytes } from './hash.ts'
import { findCaseClashes, isWithin, problemOfPath, promptEnding, remoteEnding } from './prompt-path.ts'

/** A prompt file. */
export interface LocalPrompt extends HashedText {
  file: string
}

/** Something that was left out, and why. */
export interface Refusal {
  path: string
  reason: string
}

/** What a folder of prompts holds. */
export interface Scan {
  prompts: Map<string, LocalPrompt>
  /** Paths with a `.remote` file of an unsettled conflict. */
  leftovers: Set<string>
  refused: Refusal[]
}

/** Reads the prompt files of a folder; a folder that does not exist is an empty one. */
export async function scanPrompts(
  folder: string,
  include: readonly string[],
  ignore: readonly string[],
): Promise<Scan> {
  const scan: Scan = { prompts: new Map(), leftovers: new Set(), refused: [] }
  const isIncluded = matcherOf(include)
  const isIgnored = matcherOf(ignore)
  const found: string[] = []
  for (const name of await listFiles(folder, '', scan.refused)) {
    if (name.endsWith(remoteEnding)) scan.leftovers.add(name.slice(0, -remoteEnding.length).normalize('NFC'))
    else if (name.endsWith(promptEnding) && isIncluded(name) && !isIgnored(name)) found.push(name)
  }
  // The server keeps paths in NFC; some file systems give names in another form.
  const pathOf = (name: string): string => name.slice(0, -promptEnding.length).normalize('NFC')
  const clashes = findCaseClashes(found.map(pathOf))
  for (const name of found) {
    const path = pathOf(name)
    const problem = clashes.has(path) ? 'differs from another path only in case' : problemOfPath(path)
    if (problem) scan.refused.push({ path, reason: problem })
    else scan.prompts.set(path, await readPrompt(join(folder, name)))
  }
  return scan
}

async function readPrompt(file: string): Promise<LocalPrompt> {
  const hashed = hashBytes(await readFile(file))
  if (!hashed) throw new CliError('invalid', `${file} is not UTF-8`, { hint: 'save it as UTF-8' })
  return { ...hashed, file }
}

async function listFiles(root: string, below: string, refused: Refusal[]): Promise<string[]> {
  const names: string[] = []
  for (const entry of await readFolder(join(root, below))) {
    const name = below ? `${below}/${entry.name}` : entry.name
    let [isFolder, isFile] = [entry.isDirectory(), entry.isFile()]
    if (entry.isSymbolicLink()) {
      if (!(await isWithin(root, join(root, name)))) {
        refused.push({ path: name, reason: 'is a link out of the folder' })
        continue
      }
      const target = await stat(join(root, name))
      // Only links to files are followed: a link to a folder above would never end.
      ;[isFolder, isFile] = [false, target.isFile()]
    }
    if (isFolder) names.push(...(await listFiles(root, name, refused)))
    else if (isFile) names.push(name)
  }
  return names
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
