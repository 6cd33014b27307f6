import type { Project } from '@stet/sdk'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { type Compared, conflictStates, isInStep, shownState } from '../sync/compare.ts'
import { findLiveConflicts, listDraftChanges } from '../sync/merge/live-merge.ts'
import { allowEmptyFlag, refuseEmpty, scanProject } from '../sync/scan.ts'
import { describeVersion } from '../sync/version-ref.ts'
import { compareAll, openWorkspace } from '../sync/workspace.ts'
import { formatAge } from '../terminal/output.ts'
import { countLines, formatCount } from '../ui/diff.ts'

interface StatusEntry {
  path: string
  /** The earlier path of a moved prompt. */
  from?: string
  state: ReturnType<typeof shownState> | 'live-conflict'
  lines?: { added: number; removed: number }
  remoteUpdatedAt?: string
}

interface StatusData {
  project: Pick<Project, 'id'>
  version: { uuid: string; status: string; name: string; description: string }
  entries: StatusEntry[]
  refused: { path: string; reason: string }[]
}

const letters: Partial<Record<StatusEntry['state'], string>> = {
  // In the next four states, both sides agree. A prompt is listed with such a state only if its merge with live was not
  // pushed.
  same: 'M',
  'same-edit': 'M',
  'same-new': 'A',
  'both-deleted': 'D',
  'local-edit': 'M',
  'local-new': 'A',
  'local-delete': 'D',
  'remote-edit': 'M',
  'remote-new': 'A',
  'remote-delete': 'D',
  'local-move': 'R',
  'remote-move': 'R',
}

export const command = defineCommand({
  summary: 'Shows what differs between the files, the last pull and the server.',
  examples: ['stet status', 'stet status --check', 'stet status --offline'],
  flags: {
    '--check': 'exit with 3 when anything differs',
    '--offline': 'compare with the last pull only; makes no request',
    '--no-moves': 'treat moved files as deleted and new ones',
    ...allowEmptyFlag,
  },
  parse: (raw) => ({
    isCheck: raw.flags.check,
    isOffline: raw.flags.offline,
    allowsEmpty: raw.flags.allowEmpty,
    guessesMoves: raw.flags.moves,
  }),
  run: ({ isOffline, ...input }, ctx) => (isOffline ? statusOffline(ctx, input) : statusOnline(ctx, input)),
  print: printStatus,
  exitCode({ entries, refused }, { isCheck }) {
    if (isCheck && entries.length > 0) return exitCodes.differences
    return refused.length > 0 ? exitCodes.unexpected : exitCodes.success
  },
})

interface StatusInput {
  allowsEmpty: boolean
  guessesMoves: boolean
}

async function statusOnline(ctx: Context, { allowsEmpty, guessesMoves }: StatusInput): Promise<StatusData> {
  const workspace = await openWorkspace(ctx, undefined, guessesMoves)
  const { compared, version, scan, settings } = workspace
  refuseEmpty(scan, settings, allowsEmpty)
  const live = findLiveConflicts(await listDraftChanges(workspace), workspace)
    .filter(({ isMerged }) => !isMerged)
    .map(({ path }) => path)
  const differing = compared.filter((one) => isDifferent(one) && !live.includes(one.path))
  const entries: StatusEntry[] = await Promise.all(differing.map(toEntry))
  entries.push(...live.map((path): StatusEntry => ({ path, state: 'live-conflict' })))
  entries.sort((a, b) => (a.path < b.path ? -1 : 1))
  return {
    project: { id: version.projectId },
    version: { uuid: version.uuid, status: version.status, name: version.title, description: describeVersion(version) },
    entries,
    refused: scan.refused,
  }
}

function isDifferent(one: Compared): boolean {
  return one.mergedLive !== undefined || !isInStep(one)
}

async function toEntry(one: Compared): Promise<StatusEntry> {
  const entry: StatusEntry = { path: one.path, ...(one.move && { from: one.move.from }), state: shownState(one) }
  const isLocal = one.state === 'local-edit' || one.state === 'local-new'
  if (isLocal && entry.state !== 'conflict') entry.lines = await countLines(one.remoteText, one.localText)
  else if (one.remoteUpdatedAt !== undefined) entry.remoteUpdatedAt = one.remoteUpdatedAt
  return entry
}

async function statusOffline(ctx: Context, { allowsEmpty, guessesMoves }: StatusInput): Promise<StatusData> {
  const settings = await ctx.settings()
  const { lock } = settings
  if (!lock) throw new CliError('usage', 'Nothing was pulled yet', { hint: 'run stet init' })
  const scan = await scanProject(settings, ctx.warn)
  refuseEmpty(scan, settings, allowsEmpty)
  // Texts are absent, so that only moves of unedited files are found, and those by `stet mv`.
  const pulled = Object.entries(lock.prompts).flatMap(([path, { hash, documentUuid = '' }]) =>
    hash === undefined ? [] : [[path, { content: '', contentHash: hash, documentUuid }] as const],
  )
  const { compared } = compareAll(lock.prompts, scan, new Map(pulled), guessesMoves)
  const entries = compared
    .filter((one) => !isInStep(one))
    .map((one): StatusEntry => {
      const { path, move } = one
      return { path, ...(move && { from: move.from }), state: shownState({ ...one, hasMarkers: false }) }
    })
  const { uuid, status, name } = lock.version
  return {
    project: { id: lock.projectId },
    version: { uuid, status, name, description: `last pull of ${status} "${name}" (${uuid.slice(0, 8)})` },
    entries,
    refused: scan.refused,
  }
}

function printStatus({ project, version, entries }: StatusData, { io, style, dataStyle, say }: Context): void {
  say(`Project ${project.id} · ${version.description}`)
  const isLive = ({ state }: StatusEntry): boolean => state === 'live-conflict'
  const isConflict = ({ state }: StatusEntry): boolean => conflictStates.has(state)
  const isRemote = ({ state }: StatusEntry): boolean => state.startsWith('remote-')
  const groups: [string, StatusEntry[], (text: string) => string][] = [
    ['Changes to push', entries.filter((one) => !isConflict(one) && !isRemote(one) && !isLive(one)), dataStyle.green],
    ['Changed on the server since the last pull', entries.filter(isRemote), dataStyle.yellow],
    ['Both sides changed', entries.filter(isConflict), dataStyle.red],
    ['Changed in both live and this draft', entries.filter(isLive), dataStyle.red],
  ]
  for (const [head, members, paint] of groups) {
    if (members.length === 0) continue
    say(head)
    for (const one of members) {
      const name = one.from === undefined ? one.path : `${one.from} → ${one.path}`
      io.out(`  ${paint(`${letters[one.state] ?? 'C'} ${name}`)}${remark(one)}\n`)
    }
  }
  if (entries.length === 0) say(`${style.ok} Everything is in sync`)
  else
    say(
      `hint: run ${hintFor(
        entries.some(isConflict),
        entries.some((one) => isRemote(one) || isLive(one)),
      )}`,
    )
}

function remark({ path, state, lines, remoteUpdatedAt }: StatusEntry): string {
  if (state === 'live-conflict') return '  stet pull merges it'
  if (conflictStates.has(state)) return `  run  stet diff ${path}`
  if (lines) return `  ${formatCount(lines)}`
  return state.startsWith('remote-') && remoteUpdatedAt ? `  ${formatAge(remoteUpdatedAt)}` : ''
}

function hintFor(hasConflicts: boolean, hasRemote: boolean): string {
  if (hasConflicts) return 'stet pull to merge them, then stet push'
  return hasRemote ? 'stet pull, then stet push' : 'stet push'
}
