import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { matcherOf } from '../settings/glob.ts'
import { type Lock, type LockEntry, writeLockFile } from '../settings/lock-file.ts'
import { refusePathsOutside, type Settings } from '../settings/resolve.ts'
import { problemOfFile } from '../sync/apply.ts'
import { type FileMove, moveFiles } from '../sync/moves/move-files.ts'
import { findCaseClashes, promptEnding, promptPathsOf, promptsDirOf } from '../sync/prompt-path.ts'
import { type Scan, scanProject } from '../sync/scan.ts'
import { countOf } from '../terminal/output.ts'

interface MoveInput {
  from: string
  to: string
}

export const command = defineCommand({
  summary: 'Moves a prompt or a folder: the files now, and the prompts with the next push.',
  examples: ['stet mv support/reply support/answer', 'stet mv support help'],
  args: {
    '<from>': 'a prompt or a folder',
    '<to>': 'the new path, or an existing folder',
  },
  parse: ({ args: [from = '', to = ''] }): MoveInput => ({ from, to }),
  run: movePrompts,
  print({ moved }, { say, style }) {
    for (const { from, to } of moved) say(`R ${from} → ${to}`)
    say(`${style.ok} ${countOf(moved.length, 'file')} moved  Next: stet push`)
  },
})

async function movePrompts(input: MoveInput, ctx: Context): Promise<{ moved: FileMove[] }> {
  const settings = await ctx.settings()
  await refusePathsOutside(settings)
  const scan = await scanProject(settings, ctx.warn)
  const moved = planMoves(input, scan, settings, ctx)
  await refuseMoves(moved, scan, settings)
  const promptsDir = promptsDirOf(settings)
  const files = moved.map(({ from, to }) => ({
    from: scan.prompts.get(from)?.file ?? '',
    to: join(promptsDir, to + promptEnding),
  }))
  await moveFiles(promptsDir, files)
  const { lock, lockFile } = settings
  if (lock) await writeLockFile(lockFile, noteMoves(lock, moved, scan))
  return { moved }
}

/** A prompt named `from` comes before a folder. An existing folder `to` contains `from` afterwards. */
function planMoves(input: MoveInput, { prompts }: Scan, settings: Settings, { io }: Context): FileMove[] {
  const promptsDir = promptsDirOf(settings)
  const paths = [...prompts.keys()]
  const isFolder = (path: string): boolean => paths.some((one) => one.startsWith(`${path}/`))
  const from = promptPathsOf(input.from, promptsDir, io.cwd).find((path) => prompts.has(path) || isFolder(path))
  if (from === undefined || from === '') {
    throw new CliError('not_found', `No prompt or folder ${input.from}`, { hint: 'run stet prompts list --local' })
  }
  // Both names are paths of files, or both are paths of prompts.
  const isFile = (name: string, path: string): boolean =>
    path !== name.replace(/\.promptl$/, '').replace(/(?<!\/)\/+$/, '')
  const places = promptPathsOf(input.to, promptsDir, io.cwd)
  const place = places.find((path) => isFile(input.to, path) === isFile(input.from, from)) ?? places[0]
  const goesInto = place === '' || input.to.endsWith('/') || (isFolder(place) && !prompts.has(place))
  const to = [place, goesInto ? from.slice(from.lastIndexOf('/') + 1) : ''].filter(Boolean).join('/')
  if (prompts.has(from)) return [{ from, to }]
  return paths
    .filter((path) => path.startsWith(`${from}/`))
    .map((path) => ({ from: path, to: to + path.slice(from.length) }))
}

async function refuseMoves(moved: readonly FileMove[], { prompts }: Scan, settings: Settings): Promise<void> {
  const promptsDir = promptsDirOf(settings)
  const { include, ignore } = settings.config
  const [isIncluded, isIgnored] = [matcherOf(include), matcherOf(ignore)]
  const leaving = new Set(moved.map(({ from }) => from))
  const others = [...prompts.keys()].filter((path) => !leaving.has(path))
  const clashes = findCaseClashes(new Set([...others, ...moved.map(({ to }) => to)]))
  for (const { from, to } of moved) {
    const file = to + promptEnding
    const entry = settings.lock?.prompts[to]
    const isOwn = to.toLowerCase() === from.toLowerCase() && to !== from
    const problem =
      (await problemOfFile(promptsDir, { path: to, localFile: undefined })) ??
      (existsSync(join(promptsDir, file)) && !isOwn ? 'exists' : undefined) ??
      (clashes.has(to) ? 'differs from another prompt only in case' : undefined) ??
      (!isIncluded(file) || isIgnored(file) ? 'is left out by include or ignore' : undefined) ??
      (entry?.hash !== undefined && entry.movedTo === undefined && to !== originOf(settings.lock, from) && !isOwn
        ? 'is a prompt whose deletion was not pushed'
        : undefined)
    if (problem) throw new CliError('usage', `${to} ${problem}; nothing was moved`)
  }
}

/** The path in the lock of a prompt whose file may have been moved before. */
function originOf(lock: Lock | undefined, path: string): string {
  const [origin = path] = Object.entries(lock?.prompts ?? {}).find(([, { movedTo }]) => movedTo === path) ?? []
  return origin
}

function noteMoves(lock: Lock, moved: readonly FileMove[], { prompts: files }: Scan): Lock {
  const prompts: Record<string, LockEntry> = { ...lock.prompts }
  for (const { from, to } of moved) {
    const origin = originOf(lock, from)
    const { movedTo, ...entry } = prompts[origin] ?? {}
    // Another file is at the path that the prompt has left.
    const isOther = movedTo !== undefined && movedTo !== from && files.has(movedTo)
    if (entry.hash === undefined || isOther) continue
    prompts[origin] = { ...entry, ...(to !== origin && { movedTo: to }) }
  }
  return { ...lock, prompts }
}
