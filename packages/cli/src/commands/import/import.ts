import { join, resolve } from 'node:path'
import type { PromptScan } from '@stet/template'
import { defineCommand } from '../../command.ts'
import { compileTexts } from '../../compile/compile-texts.ts'
import type { Context } from '../../context.ts'
import { CliError, exitCodes } from '../../exit-code.ts'
import { isJsonObject } from '../../settings/json-file.ts'
import { refusePathsOutside } from '../../settings/resolve.ts'
import { isWithin, problemOfName, readFormerText, writeFileAtomically } from '../../settings/write-file.ts'
import { promptEnding, promptsDirOf } from '../../sync/prompt-path.ts'
import { countOf, oneLine, shownFile } from '../../terminal/output.ts'
import type { ImportedPrompt, ReadSource } from './imported-prompt.ts'
import { linkPrompts } from './link-prompts.ts'
import { readSource, type Source, type SourceKind, sourceKinds } from './read-source.ts'

interface ImportedFile {
  path: string
  file: string
  action: 'written' | 'unchanged' | 'kept'
}

interface Loss {
  path: string
  /** The source file, relative to the source argument. */
  source: string | null
  line: number | null
  message: string
}

export const command = defineCommand({
  summary: 'Converts prompts of other tools into prompt files, and reports what could not be converted.',
  examples: [
    'stet import latitude ../old-project',
    'stet import latitude https://old.example/api/v3/projects/7 --source-key-stdin < old.key',
    'stet import langfuse prompts.json --dry-run',
    'stet import langfuse --url https://cloud.langfuse.com --public-key pk-lf-1 --source-key-stdin < secret.key',
    'stet import openai prompts.json --dir prompts/openai',
    'stet import dotprompt ../app/prompts --strict',
  ],
  args: {
    '<kind>': `${sourceKinds.join(', ')} (dotprompt reads files of Humanloop too)`,
    '[source]': 'file, folder, or (for latitude) the URL of a project; none to read from Langfuse itself',
  },
  flags: {
    '--dir <folder>': 'folder to write to (the prompts of the project)',
    '--dry-run': 'write nothing',
    '--strict': 'exit with 1 if anything was not converted or written',
    '--url <url> $LANGFUSE_BASE_URL': 'URL of Langfuse',
    '--public-key <key> $LANGFUSE_PUBLIC_KEY': "Langfuse's public key",
    '--secret-key <key> $LANGFUSE_SECRET_KEY': "Langfuse's secret key",
    '--source-key-stdin': "read the other server's key (of Langfuse, the secret key) from standard input",
  },
  parse(raw) {
    const [kind = '', path] = raw.args
    const known = sourceKinds.find((one) => one === kind)
    if (!known) throw new CliError('usage', `Unknown source: ${kind}`, { hint: `use one of ${sourceKinds.join(', ')}` })
    const given = {
      url: raw.flags.url,
      publicKey: raw.flags.publicKey,
      secretKey: raw.flags.secretKey,
    }
    const langfuse = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    checkSource(known, path, Object.keys(langfuse).length > 0)
    const source: Source = { kind: known, path, langfuse, readsKey: raw.flags.sourceKeyStdin }
    return { source, dir: raw.flags.dir, isDry: raw.flags.dryRun, isStrict: raw.flags.strict }
  },
  async run({ source, dir, isDry }, ctx) {
    const found = await readSource(source, ctx)
    const prompts = await linkPrompts(found.prompts)
    if (prompts.length === 0) {
      const lines = found.refused.map(({ path, reason }) => `${path}: ${reason}`)
      throw new CliError('not_found', `No ${source.kind} prompt in ${source.path ?? 'the project of these keys'}`, {
        lines,
      })
    }
    const target = dir === undefined ? await promptsFolder(ctx) : resolve(ctx.io.cwd, dir)
    const files: ImportedFile[] = []
    const unwritten: ReadSource['refused'] = []
    for (const prompt of prompts) {
      const written = await writePrompt(prompt, target, isDry, ctx)
      if (typeof written === 'string') unwritten.push({ path: prompt.path, reason: written })
      else files.push(written)
    }
    const scans = await compileTexts(new Map(prompts.map(({ path, content }) => [path, content])))
    const losses = prompts.flatMap(({ path, losses, source, line }): Loss[] => {
      const scan = scans.get(path)
      const messages = [...losses, ...(scan ? findUnsupported(scan) : [])]
      return messages.map((message) => ({ path, source: source ?? null, line: line ?? null, message }))
    })
    const refused = [...found.refused, ...unwritten].map(
      ({ path, reason, line }): Loss => ({ path, source: null, line: line ?? null, message: `Skipped: ${reason}` }),
    )
    return { files, losses: [...losses, ...refused] }
  },
  print({ files, losses }, { io, say, style, program }, { isDry }) {
    for (const { file, action } of files) io.out(`${isDry && action === 'written' ? 'to write' : action}\t${file}\n`)
    for (const loss of losses) say(`${style.warn} ${oneLine(`${loss.path}${placeOf(loss)}: ${loss.message}`)}`)
    const count = (action: ImportedFile['action']): number => files.filter((one) => one.action === action).length
    const verb = isDry ? 'to write' : 'written'
    say(
      `${style.ok} ${count('written')} ${verb}, ${count('unchanged')} unchanged, ${count('kept')} kept · ${countOf(losses.length, 'warning')}`,
    )
    if (count('kept') > 0) say('  Existing files were not overwritten: move them, or use --dir')
    if (!isDry && count('written') > 0) say(`  Next: review the files, then  ${program} check --local`)
  },
  exitCode({ files, losses }, { isStrict }) {
    const isWhole = losses.length === 0 && files.every(({ action }) => action !== 'kept')
    return isStrict && !isWhole ? exitCodes.unexpected : exitCodes.success
  },
})

function checkSource(kind: SourceKind, path: string | undefined, hasAddress: boolean): void {
  if (kind !== 'langfuse' && hasAddress) throw new CliError('usage', '--url and the keys are for langfuse only')
  if (path === undefined) {
    if (kind !== 'langfuse') throw new CliError('usage', 'Missing input: source', { hint: 'name a file or folder' })
  } else if (hasAddress) {
    throw new CliError('usage', 'Use either a source, or --url and the keys', { hint: 'leave out the source' })
  } else if (kind === 'langfuse' && /^https?:\/\//.test(path)) {
    throw new CliError('usage', 'The source must be a file, not a URL', { hint: `use --url ${path}` })
  }
}

// The default folder may be a symbolic link from the checkout, so the link is checked.
async function promptsFolder(ctx: Context): Promise<string> {
  const settings = await ctx.settings()
  await refusePathsOutside(settings)
  return promptsDirOf(settings)
}

function placeOf({ source, line }: Loss): string {
  if (source === null) return line === null ? '' : ` (line ${line})`
  return ` (${line === null ? source : `${source}:${line}`})`
}

/** @returns the outcome, or the reason why this file cannot be created */
async function writePrompt(
  { path, content }: ImportedPrompt,
  target: string,
  isDry: boolean,
  { io }: Context,
): Promise<ImportedFile | string> {
  const file = join(target, path + promptEnding)
  const shown = shownFile(file, io.cwd)
  if (!(await isWithin(target, file))) return `${shown} is outside ${target}`
  try {
    const before = await readFormerText(file)
    if (before !== undefined) return { path, file: shown, action: before === content ? 'unchanged' : 'kept' }
    if (!isDry) await writeFileAtomically(file, content)
    return { path, file: shown, action: 'written' }
  } catch (error) {
    const problem = problemOfName(error)
    if (problem === undefined) throw error
    return `${shown} ${problem}`
  }
}

export function findUnsupported({ errors, issues, config }: PromptScan): string[] {
  const found = errors.map(
    ({ line, column, message }) => `Does not compile (line ${line}, column ${column}): ${message}`,
  )
  for (const { severity, code, line, column, message } of issues) {
    if (severity === 'error' && code === 'invalid-setting')
      found.push(`A run would refuse it (line ${line}, column ${column}): ${message}`)
  }
  for (const name of builtInTools(config['tools'])) {
    found.push(`The tool "${name}" is not part of stet: a server module (STET_TOOLS) or the caller must provide it`)
  }
  return found
}

function builtInTools(tools: unknown): string[] {
  const members = Array.isArray(tools) ? tools : [tools]
  return members.flatMap((member) => {
    if (typeof member === 'string') return [member]
    if (!isJsonObject(member)) return []
    // An object defines a client tool. Any other value enables a tool of a provider or of the service.
    return Object.entries(member).flatMap(([name, definition]) => (isJsonObject(definition) ? [] : [name]))
  })
}
