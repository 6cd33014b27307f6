import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { isMissing } from '../../settings/json-file.ts'
import type { Refusal } from '../../sync/scan.ts'
import { importLangfuse } from './formats/langfuse.ts'
import { readLatitudeFolder, readLatitudeServer } from './formats/latitude.ts'
import { importOpenAi } from './formats/openai.ts'
import { importPromptFile } from './formats/prompt-file.ts'
import type { ImportedPrompt } from './imported-prompt.ts'

/** The tools whose prompts can be imported. */
export const sourceKinds = ['latitude', 'langfuse', 'openai', 'dotprompt'] as const
export type SourceKind = (typeof sourceKinds)[number]

/** What a source holds, converted, and what of it could not be read. */
export interface ReadSource {
  prompts: ImportedPrompt[]
  refused: Refusal[]
}

/** Reads and converts a source. @param source a file, a folder, or for `latitude` an address too */
export async function readSource(
  kind: SourceKind,
  source: string,
  readsKey: boolean,
  ctx: Context,
): Promise<ReadSource> {
  if (kind === 'latitude' && /^https?:\/\//.test(source)) {
    if (!readsKey)
      throw new CliError('usage', 'The other server wants a key of its own', { hint: '--source-key-stdin' })
    const key = new TextDecoder().decode(await ctx.io.readStdin()).trim()
    return { prompts: await readLatitudeServer(source, key), refused: [] }
  }
  const target = resolve(ctx.io.cwd, source)
  const isFolder = await isDirectory(target)
  if (kind === 'latitude') {
    if (!isFolder) throw new CliError('usage', `${source} is no folder`)
    return readLatitudeFolder(target)
  }
  const ending = kind === 'dotprompt' ? '.prompt' : '.json'
  const files = isFolder ? await findFiles(target, ending) : [basename(target)]
  const root = isFolder ? target : dirname(target)
  const found: ReadSource = { prompts: [], refused: [] }
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8')
    const converted =
      kind === 'dotprompt' ? [importPromptFile(withoutEnding(file), text)] : convertJson(kind, text, file)
    if (converted.length === 0) found.refused.push({ path: file, reason: `holds no prompt of ${kind}` })
    found.prompts.push(...converted)
  }
  return found
}

function convertJson(kind: 'langfuse' | 'openai', text: string, file: string): ImportedPrompt[] {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new CliError('invalid', `${file} is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  return kind === 'langfuse' ? importLangfuse(value) : importOpenAi(value)
}

function withoutEnding(file: string): string {
  return file.replace(/\.prompt$/, '')
}

async function isDirectory(target: string): Promise<boolean> {
  try {
    return (await stat(target)).isDirectory()
  } catch (error) {
    if (isMissing(error)) throw new CliError('not_found', `There is no ${target}`)
    throw error
  }
}

async function findFiles(root: string, ending: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !entry.parentPath.includes('node_modules'))
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}
