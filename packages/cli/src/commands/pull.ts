import { relative, resolve } from 'node:path'
import { defineCommand, hasFlag, textFlag } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { countOf } from '../output.ts'
import { writeNamedFile } from '../settings/write-file.ts'
import { applyPull, type PullStep } from '../sync/apply.ts'
import { type Preference, planPull } from '../sync/plan.ts'
import { findCaseClashes } from '../sync/prompt-path.ts'
import type { Refusal } from '../sync/scan.ts'
import { openWorkspace, saveLock, selectPaths, type Workspace } from '../sync/workspace.ts'

export interface PullInput {
  names: readonly string[]
  preference?: Preference
  isPruning: boolean
  isDry: boolean
  bundle?: string | undefined
}

/** What a pull did, or would do. */
export interface PullReport {
  version: { uuid: string; status: string; name: string }
  changes: { path: string; action: string }[]
  counts: { updated: number; unchanged: number; kept: number; conflicts: number; deleted: number }
  refused: Refusal[]
}

export const command = defineCommand({
  summary: 'Writes what changed on the server into the files, and keeps local edits.',
  examples: ['stet pull', 'stet pull support --theirs', 'stet pull --version-uuid live --dry-run'],
  args: [{ name: 'path', summary: 'prompts or folders; all without any', isMany: true }],
  flags: [
    { long: '--dry-run', summary: 'only say what would happen' },
    { long: '--theirs', summary: 'settle conflicts with the text of the server' },
    { long: '--ours', summary: 'settle conflicts with the local text' },
    { long: '--prune', summary: 'delete unedited files whose prompt the server deleted' },
    { long: '--bundle', value: '<file>', summary: 'also write one JSON of path to content' },
  ],
  parse(raw): PullInput {
    if (hasFlag(raw, 'theirs') && hasFlag(raw, 'ours')) throw new CliError('usage', 'Either --theirs or --ours')
    return {
      names: raw.args,
      preference: hasFlag(raw, 'theirs') ? 'theirs' : hasFlag(raw, 'ours') ? 'ours' : undefined,
      isPruning: hasFlag(raw, 'prune'),
      isDry: hasFlag(raw, 'dryRun'),
      bundle: textFlag(raw, 'bundle'),
    }
  },
  run: (input, ctx) => pull(ctx, input),
  print: (report, ctx) => sayPull(report, ctx),
  exitCode: ({ refused }) => (refused.length > 0 ? exitCodes.unexpected : exitCodes.success),
})

/** Compares, writes and rewrites the lock. */
export async function pull(ctx: Context, input: PullInput): Promise<PullReport> {
  const workspace = await openWorkspace(ctx)
  const { steps, refused } = await planSteps(workspace, input, ctx)
  if (!input.isDry) {
    const applied = await applyPull(workspace.promptsDir, steps, workspace.entries)
    refused.push(...applied.refused)
    await saveLock(workspace, workspace.version, workspace.followsLive, applied.entries)
  }
  if (input.bundle !== undefined) await writeBundle(input.bundle, workspace, ctx)
  for (const { path, reason } of refused) ctx.warn(`${path} ${reason}: not written`)
  for (const { one, action } of steps) {
    if (one.state === 'edit-against-delete' && action === 'keep') {
      ctx.warn(
        `${one.path} was deleted on the server and edited here: kept (--ours keeps it for good, --theirs deletes it)`,
      )
    }
  }
  const { version, scan } = workspace
  return {
    version: { uuid: version.uuid, status: version.status, name: version.title },
    changes: steps.filter(({ action }) => action !== 'none').map(({ one, action }) => ({ path: one.path, action })),
    counts: countSteps(steps.filter(({ one }) => !refused.some(({ path }) => path === one.path))),
    refused: [...scan.refused, ...refused],
  }
}

export function sayPull({ changes, counts, version }: PullReport, { style, say, warn }: Context): void {
  for (const { path, action } of changes) {
    if (action === 'write') say(`${style.down} M ${path}`)
    if (action === 'delete') say(`${style.down} D ${path}`)
    if (action === 'write-beside') warn(`C ${path}: the text of the server is in ${path}.promptl.remote`)
  }
  const { updated, unchanged, kept, conflicts, deleted } = counts
  const parts = [
    `${updated} updated`,
    `${unchanged} unchanged`,
    `${kept} kept (local edits)`,
    countOf(conflicts, 'conflict'),
  ]
  if (deleted > 0) parts.push(`${deleted} deleted`)
  say(`${style.ok} ${parts.join(', ')} · ${version.status === 'draft' ? `draft "${version.name}"` : version.name}`)
}

async function planSteps(
  workspace: Workspace,
  { names, preference, isPruning, isDry }: PullInput,
  ctx: Context,
): Promise<{ steps: PullStep[]; refused: Refusal[] }> {
  const selected = selectPaths(workspace.compared, names, workspace)
  const clashes = findCaseClashes(new Set([...workspace.remote.keys(), ...workspace.scan.prompts.keys()]))
  const refused: Refusal[] = []
  const steps: PullStep[] = []
  for (const one of selected) {
    if (clashes.has(one.path)) refused.push({ path: one.path, reason: 'differs from another path only in case' })
    else steps.push({ one, action: planPull(one, preference, names.length > 0) })
  }
  const deletions = steps.filter(({ action }) => action === 'delete')
  if (deletions.length === 0 || isDry || isPruning || (await mayDelete(deletions, ctx))) return { steps, refused }
  return {
    steps: steps.map((step) => (step.action === 'delete' ? { ...step, action: 'keep-deleted' as const } : step)),
    refused,
  }
}

async function mayDelete(deletions: readonly PullStep[], ctx: Context): Promise<boolean> {
  const paths = deletions.map(({ one }) => one.path).join(', ')
  if (ctx.flags.yes || ctx.isInteractive)
    return ctx.confirm(`The server deleted ${paths}. Delete the files too?`, '--prune')
  ctx.warn(`The server deleted ${paths}; the files stay (--prune deletes them)`)
  return false
}

function countSteps(steps: readonly PullStep[]): PullReport['counts'] {
  const count = (...actions: string[]): number => steps.filter(({ action }) => actions.includes(action)).length
  return {
    updated: count('write'),
    unchanged: count('none', 'lock-only'),
    kept: count('keep', 'keep-deleted', 'settle'),
    conflicts: count('write-beside'),
    deleted: count('delete'),
  }
}

async function writeBundle(file: string, workspace: Workspace, ctx: Context): Promise<void> {
  const target = resolve(ctx.io.cwd, file)
  const contents = Object.fromEntries([...workspace.remote].map(([path, { content }]) => [path, content]))
  await writeNamedFile(target, `${JSON.stringify(contents, null, 2)}\n`)
  ctx.say(`${ctx.style.ok} Wrote ${relative(ctx.io.cwd, target)}`)
}
