import { join, resolve } from 'node:path'
import { defineCommand, hasFlag, textFlag } from '../../command.ts'
import { compileTexts } from '../../compile/compile-texts.ts'
import type { Context } from '../../context.ts'
import { CliError, exitCodes } from '../../exit-code.ts'
import { readTextIfPresent, writeFileAtomically } from '../../settings/json-file.ts'
import { isWithin, promptEnding } from '../../sync/prompt-path.ts'
import { promptsDirOf } from '../../sync/workspace.ts'
import { shownFile } from '../../ui/shown-file.ts'
import { findUnsupported } from '../import/find-unsupported.ts'
import { type ImportedPrompt, settlePaths } from '../import/imported-prompt.ts'
import { readSource, type SourceKind, sourceKinds } from '../import/read-source.ts'

interface ImportedFile {
  path: string
  file: string
  /** `kept`: a file with another text is there already, and stays as it is. */
  action: 'written' | 'unchanged' | 'kept'
}

export const command = defineCommand({
  summary: 'Turns prompts of other tools into prompt files, and reports what could not be carried over.',
  examples: [
    'stet import latitude ../old-project',
    'stet import latitude https://old.example/api/v3/projects/7 --source-key-stdin < old.key',
    'stet import langfuse prompts.json --dry-run',
    'stet import openai prompts.json --dir prompts/openai',
    'stet import dotprompt ../app/prompts --strict',
  ],
  args: [
    { name: 'kind', summary: `${sourceKinds.join(', ')} (dotprompt reads files of Humanloop too)`, isRequired: true },
    { name: 'source', summary: 'file, folder, or for latitude the address of a project', isRequired: true },
  ],
  flags: [
    { long: '--dir', value: '<folder>', summary: 'folder to write to (the prompts of the project)' },
    { long: '--dry-run', summary: 'write nothing' },
    { long: '--strict', summary: 'exit with 1 when anything is lost or not written' },
    { long: '--source-key-stdin', summary: 'read the key of the other server from standard input' },
  ],
  parse(raw) {
    const [kind = '', source = ''] = raw.args
    const known = sourceKinds.find((one) => one === kind)
    if (!known) throw new CliError('usage', `Not a source: ${kind}`, { hint: `one of ${sourceKinds.join(', ')}` })
    return {
      kind: known as SourceKind,
      source,
      dir: textFlag(raw, 'dir'),
      isDry: hasFlag(raw, 'dryRun'),
      isStrict: hasFlag(raw, 'strict'),
      readsKey: hasFlag(raw, 'sourceKeyStdin'),
    }
  },
  async run({ kind, source, dir, isDry, readsKey }, ctx) {
    const found = await readSource(kind, source, readsKey, ctx)
    const prompts = settlePaths(found.prompts)
    if (prompts.length === 0) throw new CliError('not_found', `No prompt of ${kind} in ${source}`)
    const target = dir === undefined ? promptsDirOf(await ctx.settings()) : resolve(ctx.io.cwd, dir)
    const files: ImportedFile[] = []
    for (const prompt of prompts) files.push(await writePrompt(prompt, target, isDry, ctx))
    const scans = await compileTexts(new Map(prompts.map(({ path, content }) => [path, content])))
    const losses = prompts.flatMap(({ path, losses }) => {
      const scan = scans.get(path)
      return [...losses, ...(scan ? findUnsupported(scan) : [])].map((message) => ({ path, message }))
    })
    const refused = found.refused.map(({ path, reason }) => ({ path, message: `Left out: ${reason}` }))
    return { files, losses: [...losses, ...refused] }
  },
  print({ files, losses }, { io, say, style }, { isDry }) {
    for (const { file, action } of files) io.out(`${action}\t${file}\n`)
    for (const { path, message } of losses) say(`${style.warn} ${path}: ${message}`)
    const count = (action: ImportedFile['action']): number => files.filter((one) => one.action === action).length
    const verb = isDry ? 'to write' : 'written'
    say(
      `${style.ok} ${count('written')} ${verb}, ${count('unchanged')} unchanged, ${count('kept')} kept · ${losses.length} losses`,
    )
    if (count('kept') > 0) say('  files that exist are never overwritten: move them away, or use --dir')
    if (!isDry && count('written') > 0) say('  Next: read the files, then  stet check --local')
  },
  exitCode({ files, losses }, { isStrict }) {
    const isWhole = losses.length === 0 && files.every(({ action }) => action !== 'kept')
    return isStrict && !isWhole ? exitCodes.unexpected : exitCodes.success
  },
})

async function writePrompt(
  { path, content }: ImportedPrompt,
  target: string,
  isDry: boolean,
  { io }: Context,
): Promise<ImportedFile> {
  const file = join(target, path + promptEnding)
  const shown = shownFile(file, io.cwd)
  if (!(await isWithin(target, file))) throw new CliError('invalid', `${shown} leads out of ${target}`)
  const before = await readTextIfPresent(file)
  if (before !== undefined) return { path, file: shown, action: before === content ? 'unchanged' : 'kept' }
  if (!isDry) await writeFileAtomically(file, content)
  return { path, file: shown, action: 'written' }
}
