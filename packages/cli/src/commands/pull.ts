import { relative, resolve } from 'node:path'
import type { Version } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand } from '../command.ts'
import { compiles } from '../compile/compile-texts.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import type { LockEntry } from '../settings/lock-file.ts'
import { writeNamedFile } from '../settings/write-file.ts'
import { applyPull, type PullStep } from '../sync/apply.ts'
import { lockPathOf, type Preference, planPull } from '../sync/compare.ts'
import { KnownTexts, rememberTexts } from '../sync/merge/known-texts.ts'
import {
  abortMerges,
  findLiveConflicts,
  type LiveConflict,
  listDraftChanges,
  mergeLive,
  noteLive,
} from '../sync/merge/live-merge.ts'
import { type Merger, noFormerText, withText } from '../sync/merge/merge-prompt.ts'
import { findCaseClashes } from '../sync/prompt-path.ts'
import type { Refusal } from '../sync/scan.ts'
import { openWorkspace, saveLock, selectorOf, type Workspace } from '../sync/workspace.ts'
import { countOf } from '../terminal/output.ts'

export interface PullInput {
  names: readonly string[]
  preference?: Preference
  isPruning: boolean
  isDry: boolean
  bundle?: string | undefined
  aborts?: boolean
}

export interface PullReport {
  version: { uuid: string; status: string; name: string }
  /** `from` is the earlier path of a prompt that moved on the server. */
  changes: { path: string; action: string; from?: string; isNew?: boolean; reason?: string }[]
  counts: { updated: number; merged: number; unchanged: number; kept: number; conflicts: number; deleted: number }
  refused: Refusal[]
}

export const command = defineCommand({
  summary:
    "Writes the server's changes into the files and merges them with local edits. Exits with 6 if lines conflict.",
  examples: ['stet pull', 'stet pull support --theirs', 'stet pull --version-uuid live --dry-run'],
  args: { '[path...]': 'prompts or folders (all)' },
  flags: {
    '--dry-run': 'only show what would happen',
    '--theirs': "resolve conflicts with the server's text",
    '--ours': 'resolve conflicts with the local text',
    '--abort': 'discard merges that were not pushed, and restore the texts before them',
    '--prune': 'delete unedited files whose prompt was deleted on the server',
    '--bundle <file>': 'also write a JSON file that maps paths to contents',
  },
  parse(raw): PullInput {
    if (raw.flags.theirs && raw.flags.ours) throw new CliError('usage', 'Use --theirs or --ours, not both')
    const aborts = raw.flags.abort
    if (aborts && (raw.flags.theirs || raw.flags.ours)) {
      throw new CliError('usage', 'Use --abort without --theirs or --ours')
    }
    return {
      names: raw.args,
      preference: raw.flags.theirs ? 'theirs' : raw.flags.ours ? 'ours' : undefined,
      isPruning: raw.flags.prune,
      isDry: raw.flags.dryRun,
      bundle: raw.flags.bundle,
      aborts,
    }
  },
  run: (input, ctx) => pull(ctx, input),
  print: (report, ctx) => sayPull(report, ctx),
  exitCode: exitCodeOf,
})

export function exitCodeOf({ counts, refused }: PullReport): number {
  if (counts.conflicts > 0) return exitCodes.conflict
  return refused.length > 0 ? exitCodes.unexpected : exitCodes.success
}

export async function pull(ctx: Context, input: PullInput): Promise<PullReport> {
  const workspace = await openWorkspace(ctx)
  const merger = mergerOf(workspace, ctx)
  if (input.aborts) return abort(workspace, input, merger, ctx)
  const ofDraft = await listDraftChanges(workspace)
  const conflicts = findLiveConflicts(ofDraft, workspace)
  const listed = [...workspace.compared, ...conflicts].map(({ path }) => path)
  const paths = new Set([...listed, ...workspace.compared.map(lockPathOf)])
  const isSelected = selectorOf(input.names, paths, workspace)
  const { steps, refused } = await planSteps(workspace, isSelected, input, merger, ctx)
  let entries: Record<string, LockEntry> = { ...workspace.entries }
  if (!input.isDry) {
    await rememberTexts(textsOf(steps), ctx.io)
    const applied = await applyPull(workspace.promptsDir, steps, workspace.entries)
    refused.push(...applied.refused)
    entries = applied.entries
  }
  // A push comes between the merge with the draft and the merge with live. A file that was not written needs a new pull.
  const merging = steps.filter(({ action }) => isOfTwoTexts(action)).map(({ one }) => one.path)
  const waiting = new Set([...merging, ...refused.map(({ path }) => path)])
  const open = conflicts.filter(
    (one) => isSelected(one.path) && !waiting.has(one.path) && isToMerge(one, workspace, input),
  )
  noteLive(entries, ofDraft, workspace.entries)
  const merges = await mergeLive(workspace, open, entries, input, merger)
  if (!input.isDry) await saveLock(workspace, workspace.version, workspace.followsLive, entries)
  if (input.bundle !== undefined) await writeBundle(input.bundle, workspace, ctx)
  for (const { path, reason } of refused) ctx.warn(`${path} ${reason}: not written`)
  const changes = [...steps.filter(({ action }) => action !== 'none').map(changeOf), ...merges]
  return {
    version: nameOf(workspace.version),
    changes,
    counts: countSteps([...steps.filter(({ one }) => !refused.some(({ path }) => path === one.path)), ...merges]),
    refused: [...workspace.scan.refused, ...refused],
  }
}

function nameOf({ uuid, status, title }: Version): PullReport['version'] {
  return { uuid, status, name: title }
}

function mergerOf(workspace: Workspace, { io }: Context): Merger {
  const { scan, remote } = workspace
  const contents = [...remote].map(([path, { content }]) => [path, content] as const)
  const others = new Map([...contents, ...[...scan.prompts].map(([path, { text }]) => [path, text] as const)])
  return { texts: new KnownTexts(workspace, io), compiles: (path, text) => compiles(path, text, others) }
}

// Later pulls need the bases that this pull leaves, and `--abort` and `--ours` the files before a merge.
function textsOf(steps: readonly PullStep[]): string[] {
  const changed = steps.filter(({ action }) => action !== 'none' && action !== 'keep')
  return changed.flatMap(({ one }) => [one.remoteText, one.localText].filter((text) => text !== undefined))
}

function changeOf({ one, action, reason }: PullStep): PullReport['changes'][number] {
  const why = reason ?? (action === 'unresolved' ? reasonOf(one) : undefined)
  const isNew = one.localText === undefined
  const { path, move } = one
  const from = move?.by === 'server' ? move.from : undefined
  return { path, action, ...(action === 'write' && { isNew }), ...defined({ from, reason: why }) }
}

function reasonOf({ path, hasMarkers }: PullStep['one']): string {
  if (hasMarkers) return 'the file has conflict markers; edit it between the markers'
  return `it was deleted on the server and edited here: stet pull ${path} --ours keeps it, --theirs deletes it`
}

const openActions = ['merge-conflict', 'unresolved', 'merge-blocked', 'merge-restore']
const mergedActions = ['merge', 'merge-ours', 'merge-theirs']

function isOfTwoTexts(action: string): boolean {
  return action === 'merge' || action === 'merge-conflict' || action === 'unresolved'
}

// Repeats an unpushed merge only with --theirs or --ours, and only for named paths or files with conflict markers.
function isToMerge(
  { path, isMerged }: LiveConflict,
  { compared }: Workspace,
  { names, preference }: PullInput,
): boolean {
  if (!isMerged) return true
  const hasMarkers = compared.some((one) => one.path === path && one.hasMarkers)
  return preference !== undefined && (names.length > 0 || hasMarkers)
}

async function abort(
  workspace: Workspace,
  { names, isDry }: PullInput,
  merger: Merger,
  ctx: Context,
): Promise<PullReport> {
  const merged = workspace.compared.filter(({ isMerged, mergedLive }) => isMerged || mergedLive !== undefined)
  const isSelected = selectorOf(names, new Set(merged.map(({ path }) => path)), workspace)
  const paths = merged.map(({ path }) => path).filter(isSelected)
  let lost: string[] = []
  if (paths.length > 0 && !isDry) {
    const question = `Drop the merges of ${paths.join(', ')}, and all edits since?`
    if (!(await ctx.confirm(question, '--yes'))) throw new CliError('usage', 'Nothing was changed')
    const entries = { ...workspace.entries }
    lost = await abortMerges(workspace, new Set(paths), entries, merger)
    await saveLock(workspace, workspace.version, workspace.followsLive, entries)
  }
  const changes = paths.map((path) =>
    lost.includes(path) ? { path, action: 'unresolved', reason: noFormerText } : { path, action: 'merge-abort' },
  )
  return {
    version: nameOf(workspace.version),
    changes,
    counts: countSteps(changes),
    refused: workspace.scan.refused,
  }
}

/** The actions that change a file as planned. */
const remarks: Readonly<Record<string, string>> = {
  write: '',
  delete: '',
  merge: 'merged',
  restore: 'keeps the text before the merge',
  'merge-ours': "keeps the draft's text",
  'merge-theirs': "takes live's text",
  'merge-abort': 'restored to the text before the merge',
}

export function sayPull({ changes, counts, version }: PullReport, { style, say, warn, program }: Context): void {
  for (const { path, from, action, isNew, reason } of changes) {
    const letter = isNew ? 'A' : action === 'delete' ? 'D' : 'M'
    const name = from === undefined ? `${letter} ${path}` : `R ${from} → ${path}`
    const remark = remarks[action]
    if (remark !== undefined || from !== undefined) say(`${style.down} ${name}${remark ? `  ${remark}` : ''}`)
    if (action === 'merge-conflict') {
      warn(`C ${path}: ${reason ?? 'both sides changed the same lines; edit the file between the markers'}`)
    }
    if (action === 'merge-restore') {
      warn(
        `C ${path}: this draft deletes it and live changed it; its text was restored: delete the file again, or keep it`,
      )
    }
    if (action === 'merge-blocked' || action === 'unresolved') warn(`C ${path}: ${reason}`)
  }
  const { updated, merged, unchanged, kept, conflicts, deleted } = counts
  const parts = [
    `${updated} updated`,
    `${unchanged} unchanged`,
    `${kept} kept (local edits)`,
    countOf(conflicts, 'conflict'),
  ]
  if (deleted > 0) parts.push(`${deleted} deleted`)
  if (merged > 0) parts.push(`${merged} merged`)
  say(`${style.ok} ${parts.join(', ')} · ${version.status === 'draft' ? `draft "${version.name}"` : version.name}`)
  if (conflicts > 0) say(`  Next: resolve the prompts marked C, then  ${program} push`)
  else if (merged > 0) say(`  Next: ${program} push`)
}

async function planSteps(
  workspace: Workspace,
  isSelected: (path: string) => boolean,
  { names, preference, isPruning, isDry }: PullInput,
  merger: Merger,
  ctx: Context,
): Promise<{ steps: PullStep[]; refused: Refusal[] }> {
  const selected = workspace.compared.filter((one) => isSelected(one.path) || isSelected(lockPathOf(one)))
  const { entries, scan, version, followsLive } = workspace
  const published = followsLive ? 'live' : `v${version.version}`
  const sides = { mine: 'file', theirs: version.status === 'draft' ? 'draft' : published }
  const leaving = new Set(selected.flatMap(({ move }) => (move?.by === 'server' ? [move.from] : [])))
  const local = [...scan.prompts.keys()].filter((path) => !leaving.has(path))
  const clashes = findCaseClashes(new Set([...workspace.remote.keys(), ...local]))
  const refused: Refusal[] = []
  const steps: PullStep[] = []
  for (const one of selected) {
    if (clashes.has(one.path)) refused.push({ path: one.path, reason: 'differs from another path only in case' })
    else {
      const planned = planPull(one, preference, names.length > 0)
      const isMove = one.move?.by === 'server' && ['none', 'lock-only', 'keep'].includes(planned)
      const step: PullStep = { one, action: isMove ? 'move' : planned }
      const file = one.move?.by === 'server' ? one.move.from : one.path
      steps.push(await withText(step, entries[lockPathOf(one)], scan.prompts.get(file)?.hashes, sides, merger))
    }
  }
  const deletions = steps.filter(({ action }) => action === 'delete')
  if (deletions.length === 0 || isDry || isPruning || (await mayDelete(deletions, ctx))) return { steps, refused }
  return {
    steps: steps.map((step) => (step.action === 'delete' ? { ...step, action: 'keep-deleted' as const } : step)),
    refused,
  }
}

async function mayDelete(deletions: readonly PullStep[], ctx: Context): Promise<boolean> {
  const paths = deletions.map(({ one }) => one.path)
  if (await ctx.confirmDeletion('Delete the files of these prompts, which the server deleted?', paths)) return true
  ctx.warn(`The server deleted ${paths.join(', ')}; the files stay (--prune deletes them)`)
  return false
}

function countSteps(steps: readonly { action: string }[]): PullReport['counts'] {
  const count = (...actions: string[]): number => steps.filter(({ action }) => actions.includes(action)).length
  return {
    updated: count('write', 'merge-abort', 'move'),
    merged: count(...mergedActions),
    unchanged: count('none', 'lock-only'),
    kept: count('keep', 'keep-deleted', 'settle', 'restore'),
    conflicts: count(...openActions),
    deleted: count('delete'),
  }
}

async function writeBundle(file: string, workspace: Workspace, ctx: Context): Promise<void> {
  const target = resolve(ctx.io.cwd, file)
  const contents = Object.fromEntries([...workspace.remote].map(([path, { content }]) => [path, content]))
  await writeNamedFile(target, `${JSON.stringify(contents, null, 2)}\n`)
  ctx.say(`${ctx.style.ok} Wrote ${relative(ctx.io.cwd, target)}`)
}
