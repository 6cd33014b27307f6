import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { isMissing } from '../../settings/json-file.ts'
import { partialName } from './formats/dotprompt.ts'
import { importLangfuse } from './formats/langfuse.ts'
import { fetchLangfuse, type LangfuseAddress } from './formats/langfuse-api.ts'
import { readLatitudeFolder, readLatitudeServer } from './formats/latitude.ts'
import { importOpenAi } from './formats/openai.ts'
import { importPromptFile, splitPromptFile } from './formats/prompt-file.ts'
import type { ReadSource } from './imported-prompt.ts'
import { parseEntries } from './json-entries.ts'

export const sourceKinds = ['latitude', 'langfuse', 'openai', 'dotprompt'] as const
export type SourceKind = (typeof sourceKinds)[number]

/** The maximum number of characters. The server refuses longer prompts, and converting them is slow. */
const maxPromptLength = 262_144

/** Where prompts come from: a file, a folder, or a server. */
export interface Source {
  kind: SourceKind
  /** A file or folder; for `latitude`, a folder or a URL. Absent for Langfuse's server. */
  path: string | undefined
  langfuse: Partial<LangfuseAddress>
  /** The key of the server comes from standard input. */
  readsKey: boolean
}

export async function readSource(source: Source, ctx: Context): Promise<ReadSource> {
  const { kind, path, readsKey } = source
  const readKey = async (): Promise<string> => new TextDecoder().decode(await ctx.io.readStdin()).trim()
  if (path === undefined) {
    const address = addressOf(source, readsKey ? await readKey() : undefined, ctx)
    const { entries, refused } = await fetchLangfuse(address)
    const read = importLangfuse(entries)
    return { ...read, refused: [...refused, ...read.refused] }
  }
  if (kind === 'latitude' && /^https?:\/\//.test(path)) {
    if (!readsKey)
      throw new CliError('usage', "Missing input: the other server's API key", { hint: 'pass --source-key-stdin' })
    return { prompts: await readLatitudeServer(path, await readKey()), refused: [] }
  }
  return readFiles(kind, path, ctx)
}

/** Takes from the environment what Langfuse's own clients take from it. */
function addressOf({ langfuse }: Source, key: string | undefined, { io: { env } }: Context): LangfuseAddress {
  const { publicKey = env['LANGFUSE_PUBLIC_KEY'], secretKey = key ?? env['LANGFUSE_SECRET_KEY'] } = langfuse
  const [known = 'https://cloud.langfuse.com'] = ['LANGFUSE_BASE_URL', 'LANGFUSE_HOST', 'LANGFUSE_BASEURL'].flatMap(
    (name) => env[name] || [],
  )
  if (!publicKey || !secretKey) {
    throw new CliError('usage', 'Missing input: a JSON export, or the keys of Langfuse', {
      hint: 'pass a file, or set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY',
    })
  }
  return { url: langfuse.url ?? known, publicKey, secretKey }
}

async function readFiles(kind: SourceKind, source: string, ctx: Context): Promise<ReadSource> {
  const target = resolve(ctx.io.cwd, source)
  const isFolder = await isDirectory(target)
  if (kind === 'latitude') {
    if (!isFolder) throw new CliError('usage', `${source} is not a folder`)
    return readLatitudeFolder(target)
  }
  const endings = kind === 'dotprompt' ? ['.prompt', '.agent'] : ['.json']
  const files = isFolder ? await findFiles(target, endings) : [basename(target)]
  const root = isFolder ? target : dirname(target)
  const found: ReadSource = { prompts: [], refused: [] }
  const partials = kind === 'dotprompt' ? await readPartials(root, files) : new Map<string, string>()
  for (const file of files) {
    try {
      const { prompts, refused } = convertFile(kind, file, await readText(root, file), partials)
      if (prompts.length + refused.length === 0)
        found.refused.push({ path: file, reason: `contains no ${kind} prompt` })
      found.prompts.push(...prompts.map((prompt) => ({ ...prompt, source: file })))
      found.refused.push(...refused.map((one) => ({ ...one, path: `${file}, ${one.path}` })))
    } catch (error) {
      // In a folder, one broken file must not block the others.
      const failure = error instanceof RangeError ? new CliError('invalid', `${file}: nested too deeply`) : error
      if (!isFolder || !(failure instanceof CliError)) throw failure
      found.refused.push({ path: file, reason: failure.message.replace(`${file}: `, '') })
    }
  }
  return found
}

/** Skips files that cannot be read: converting them reports why. */
async function readPartials(root: string, files: readonly string[]): Promise<Map<string, string>> {
  const partials = new Map<string, string>()
  for (const file of files) {
    const name = partialName(withoutEnding(file))
    if (name === undefined) continue
    try {
      const text = await readText(root, file)
      if (text.length <= maxPromptLength) partials.set(name, splitPromptFile(name, text).body)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
    }
  }
  return partials
}

function convertFile(kind: SourceKind, file: string, text: string, partials: ReadonlyMap<string, string>): ReadSource {
  if (kind === 'dotprompt') {
    if (file.endsWith('.agent')) {
      throw new CliError(
        'invalid',
        `${file}: Humanloop agents are not supported: turn the text into a prompt, and list the prompts it calls under "agents"`,
      )
    }
    if (text.length > maxPromptLength) throw new CliError('invalid', `${file}: exceeds the prompt limit of 256 KB`)
    return { prompts: [importPromptFile(withoutEnding(file), text, (name) => partials.get(name))], refused: [] }
  }
  return kind === 'langfuse'
    ? importLangfuse(parseEntries(text, file, ['data', 'prompts']))
    : importOpenAi(parseEntries(text, file, ['data']))
}

async function readText(root: string, file: string): Promise<string> {
  const bytes = await readFile(join(root, file))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CliError('invalid', `${file}: not UTF-8`)
  }
}

function withoutEnding(file: string): string {
  return file.replace(/\.prompt$/, '')
}

async function isDirectory(target: string): Promise<boolean> {
  try {
    return (await stat(target)).isDirectory()
  } catch (error) {
    if (isMissing(error)) throw new CliError('not_found', `${target} does not exist`)
    throw error
  }
}

async function findFiles(root: string, endings: readonly string[]): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter(
      (entry) =>
        entry.isFile() &&
        endings.some((ending) => entry.name.endsWith(ending)) &&
        !entry.parentPath.includes('node_modules'),
    )
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}
