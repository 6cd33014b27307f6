import { join, resolve } from 'node:path'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { isWithin, readFormerText, writeFileAtomically, writeNamedFile } from '../settings/write-file.ts'
import { listPrompts } from '../sync/list-prompts.ts'
import { findCaseClashes, problemOfPath, promptEnding, promptsDirOf } from '../sync/prompt-path.ts'
import { type Refusal, scanProject } from '../sync/scan.ts'
import { findVersionToRun } from '../sync/version-ref.ts'
import { selectorOf } from '../sync/workspace.ts'
import { countOf, shownFile } from '../terminal/output.ts'
import { archiveEnding } from './projects/archive/project-archive.ts'

interface ExportInput {
  names: readonly string[]
  out: string
  isLocal: boolean
  isForced: boolean
}

export const command = defineCommand({
  summary: 'Writes prompts to a folder of files, or to one JSON file that maps paths to texts.',
  examples: [
    'stet export --out backup',
    'stet export --out prompts.json',
    'stet export support --out support.json --local',
  ],
  args: { '[path...]': 'prompts or folders (all)' },
  flags: {
    '--out <folder or file.json>': 'where to write',
    '--local': 'use the files instead of the server',
    '--force': 'overwrite files that differ',
  },
  parse(raw): ExportInput {
    const out = raw.flags.out
    if (out === undefined)
      throw new CliError('usage', 'Missing input: the target of the export', {
        hint: 'pass --out <folder or file.json>',
      })
    if (out.endsWith(archiveEnding))
      throw new CliError('usage', 'An archive holds a whole project', {
        hint: `run stet projects export <project> ${out}`,
      })
    return { names: raw.args, out, isLocal: raw.flags.local, isForced: raw.flags.force }
  },
  async run(input, ctx) {
    const texts = await selectTexts(input, ctx)
    const target = resolve(ctx.io.cwd, input.out)
    const isBundle = target.endsWith('.json')
    const { files, refused } = isBundle
      ? { files: new Map([[target, bundleOf(texts)]]), refused: [] }
      : await filesOf(texts, target)
    const written = await writeAll(files, isBundle ? writeNamedFile : writeFileAtomically, input.isForced, ctx)
    return { prompts: texts.size - refused.length, files: written, refused }
  },
  print({ prompts, files, refused }, { io, say, style, warn }) {
    for (const { file } of files) io.out(`${file}\n`)
    for (const { path, reason } of refused) warn(`Skipped ${path}: ${reason}`)
    say(`${style.ok} ${countOf(prompts, 'prompt')} exported`)
  },
  exitCode: ({ refused }) => (refused.length > 0 ? exitCodes.unexpected : exitCodes.success),
})

async function selectTexts({ names, isLocal }: ExportInput, ctx: Context): Promise<Map<string, string>> {
  const settings = await ctx.settings()
  const promptsDir = promptsDirOf(settings)
  const all = isLocal
    ? [...(await scanProject(settings, ctx.warn)).prompts].map(([path, { text }]): [string, string] => [path, text])
    : await serverTexts(ctx)
  const isSelected = selectorOf(names, new Set(all.map(([path]) => path)), { promptsDir, cwd: ctx.io.cwd })
  return new Map(all.filter(([path]) => isSelected(path)))
}

async function serverTexts(ctx: Context): Promise<[string, string][]> {
  await ctx.projectId()
  const client = await ctx.client()
  const prompts = await listPrompts(client, { versionUuid: await findVersionToRun(client, ctx) })
  return prompts.map(({ path, content }) => [path, content])
}

function bundleOf(texts: ReadonlyMap<string, string>): string {
  const sorted = [...texts].sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`
}

async function filesOf(
  texts: ReadonlyMap<string, string>,
  target: string,
): Promise<{ files: Map<string, string>; refused: Refusal[] }> {
  const files = new Map<string, string>()
  const refused: Refusal[] = []
  const clashes = findCaseClashes(texts.keys())
  for (const [path, text] of texts) {
    const file = join(target, path + promptEnding)
    const problem = clashes.has(path) ? 'differs from another path only in case' : problemOfPath(path)
    if (problem) refused.push({ path, reason: problem })
    else if (!(await isWithin(target, file))) refused.push({ path, reason: 'is outside the folder' })
    else files.set(file, text)
  }
  return { files, refused }
}

async function writeAll(
  files: ReadonlyMap<string, string>,
  write: (file: string, text: string) => Promise<void>,
  isForced: boolean,
  { io }: Context,
): Promise<{ file: string }[]> {
  const differing: string[] = []
  for (const [file, text] of files) {
    const before = await readFormerText(file)
    if (before !== undefined && before !== text) differing.push(shownFile(file, io.cwd))
  }
  // A partial export would look complete, so one conflict blocks all files.
  if (differing.length > 0 && !isForced) {
    throw new CliError('conflict', 'Files with different text already exist', {
      lines: differing,
      hint: 'pass --force to overwrite them',
    })
  }
  for (const [file, text] of files) await write(file, text)
  return [...files.keys()].map((file) => ({ file: shownFile(file, io.cwd) }))
}
