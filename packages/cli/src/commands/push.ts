import type { Change, CompileIssue, Prompt, PromptIssue, UnresolvedPrompt, Version } from '@stet/sdk'
import { defineCommand, hasFlag, textFlag } from '../command.ts'
import { annotatePrompts, findingsOf } from '../compile/annotations.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { type Compared, isUnsettled, type PushPlan, planPush } from '../sync/compare.ts'
import { defaultDraftName, lacksHistory } from '../sync/git/git.ts'
import { listPrompts } from '../sync/list-prompts.ts'
import { rebaseOnLive } from '../sync/merge/live-merge.ts'
import { rememberTexts } from '../sync/merge/text-cache.ts'
import { findCaseClashes } from '../sync/prompt-path.ts'
import { type Refusal, refuseEmpty } from '../sync/scan.ts'
import { entriesAfterPush, refuseTooMany, sendToDraft } from '../sync/send.ts'
import { openWorkspace, saveLock, selectPaths, type Workspace } from '../sync/workspace.ts'
import { countOf, shortUuid } from '../terminal/output.ts'
import { countLines, formatCount } from '../ui/diff.ts'
import { isUnpushed, type PublishReport, publishVersion, sayPublished } from './publish.ts'

interface PushInput {
  names: readonly string[]
  name: string | undefined
  draft: string | undefined
  opensNew: boolean
  deletes: boolean
  isForced: boolean
  isDry: boolean
  publishes: boolean
}

interface PushReport {
  version: { uuid: string; status: string; name: string }
  isNewDraft: boolean
  isDry: boolean
  changes: { path: string; status: Change['status']; hash: string | null; lines: string }[]
  errors: { path: string; errors: CompileIssue[] }[]
  issues: { path: string; issues: PromptIssue[] }[]
  /** What the run of the first pushed prompt needs. */
  required: string[]
  refused: Refusal[]
  durationMs: number
  published?: PublishReport
}

export const command = defineCommand({
  summary: "Sends changed files to a draft, all or nothing. Never overwrites a colleague's changes.",
  examples: ['stet push', 'stet push -m "friendlier tone"', 'stet push support/reply --dry-run'],
  args: [{ name: 'path', summary: 'prompts or folders (all)', isMany: true }],
  flags: [
    {
      long: '--name',
      short: '-m',
      value: '<name>',
      summary: 'name of the new draft, or of an existing one once it is published',
    },
    { long: '--draft', value: '<ref>', summary: 'send to this draft' },
    { long: '--new', summary: 'open a new draft' },
    { long: '--delete', summary: 'also delete prompts without a file' },
    { long: '--force', summary: 'overwrite conflicts in the draft' },
    { long: '--dry-run', summary: 'only show what would happen' },
    { long: '--publish', summary: 'publish the draft afterwards' },
  ],
  parse(raw): PushInput {
    const draft = textFlag(raw, 'draft')
    if (draft !== undefined && hasFlag(raw, 'new')) throw new CliError('usage', 'Use --draft or --new, not both')
    return {
      names: raw.args,
      name: textFlag(raw, 'name'),
      draft,
      opensNew: hasFlag(raw, 'new'),
      deletes: hasFlag(raw, 'delete'),
      isForced: hasFlag(raw, 'force'),
      isDry: hasFlag(raw, 'dryRun'),
      publishes: hasFlag(raw, 'publish'),
    }
  },
  run: push,
  print: (report, ctx) => (report.published ? sayPublished(report.published, ctx) : sayPushed(report, ctx)),
  exitCode: ({ refused }) => (refused.length > 0 ? exitCodes.unexpected : exitCodes.success),
})

async function push(input: PushInput, ctx: Context): Promise<PushReport> {
  const startedMs = performance.now()
  const workspace = await openForPush(ctx, input)
  refuseEmpty(workspace.scan, workspace.settings)
  const selected = selectPaths(workspace.compared, input.names, workspace)
  const plan = planPush(selected, input.isForced)
  await refuseConflicts(plan, workspace)
  if (plan.remoteOnly.length > 0) {
    ctx.warn(`Changed on the server only, not touched: ${plan.remoteOnly.map(({ path }) => path).join(', ')}`)
  }
  const deletions = await agreedDeletions(plan, input, ctx)
  const clashing = clashesOf(plan.changes, deletions, workspace)
  for (const { path, reason } of clashing) ctx.warn(`Skipped ${path}: ${reason}`)
  const sendable = plan.changes.filter((change) => !clashing.some(({ path }) => path === change.path))
  const changes = [...sendable, ...deletions]
  if (input.publishes && !input.isDry) refuseRest(workspace, changes)
  refuseTooMany(changes)
  const overwritten = selected.filter((one) => isUnsettled(one) && changes.some(({ path }) => path === one.path))
  const target = await chooseTarget(workspace, input, { changes, overwritten }, ctx)
  if (!input.isDry && changes.length > 0) {
    await sendToDraft(workspace.client, target.version, changes)
    const sent = changes.flatMap(({ content }) => (content === undefined ? [] : [content]))
    await rememberTexts(sent, ctx.io)
  }
  const finished = input.isDry ? undefined : await finish(workspace, target, selected, changes, input.name)
  const pushed = finished?.pushed ?? []
  await annotatePrompts(
    pushed.map((prompt) => ({ path: prompt.path, found: findingsOf(prompt) })),
    ctx,
  )
  const { version } = target
  const isRenamed =
    !target.isNew && version.status === 'draft' && input.name !== undefined && input.name !== version.title
  if (isRenamed && !input.isDry) ctx.say(`The draft "${version.title}" will be published as "${input.name}"`)
  const report: PushReport = {
    version: { uuid: version.uuid, status: version.status, name: version.title },
    isNewDraft: target.isNew,
    isDry: input.isDry,
    changes: await Promise.all(changes.map((change) => describeChange(change, selected))),
    errors: pushed.flatMap(({ path, errors }) => (errors.length > 0 ? [{ path, errors }] : [])),
    issues: pushed.flatMap(({ path, issues = [] }) => (issues.length > 0 ? [{ path, issues }] : [])),
    required: finished?.required ?? [],
    refused: [...workspace.scan.refused, ...clashing],
    durationMs: Math.round(performance.now() - startedMs),
  }
  // Only a draft can be published. Without changes, push opens no draft.
  if (!input.publishes || input.isDry || version.status !== 'draft') return report
  // Printed now, because publishing may fail.
  if (!ctx.flags.json) sayPushed(report, ctx, true)
  return { ...report, published: await publishVersion(ctx.reopened(), { ref: version.uuid }) }
}

// Compares the folder with live if the push needs a new draft, because a new draft starts from live.
async function openForPush(ctx: Context, input: PushInput): Promise<Workspace> {
  const workspace = await openWorkspace(ctx, input.draft)
  const { version } = workspace
  if (version.isLive || (version.status === 'draft' && !input.opensNew)) return workspace
  const versions = await workspace.client.versions.list({ status: 'merged' })
  if (!versions.some(({ isLive }) => isLive)) return workspace
  const overLive = await openWorkspace(ctx, 'live')
  return version.status === 'draft' ? rebaseOnLive(overLive, version) : overLive
}

async function refuseConflicts({ conflicts }: PushPlan, { settings, version }: Workspace): Promise<void> {
  if (conflicts.length === 0) return
  const lines = conflicts.map(lineOf)
  if (conflicts.every(({ hasMarkers }) => hasMarkers)) {
    throw new CliError('conflict', 'Files contain conflict markers; nothing was sent', {
      lines,
      hint: 'resolve them and run stet push, undo the merges with stet pull --abort, or send them as text with --force',
    })
  }
  const isIncomplete = settings.lock?.version.uuid !== version.uuid && (await lacksHistory(settings.root))
  const hint = isIncomplete
    ? 'fetch the git history (fetch-depth: 0, without --filter), so that stet finds the version that CI published'
    : 'run stet pull to merge them, then stet push'
  throw new CliError('conflict', 'Both sides changed; nothing was sent', { lines, hint })
}

function lineOf({ path, hasMarkers }: Compared): string {
  return hasMarkers ? `${path}  (conflict markers)` : path
}

// Throws if some changes would not be sent: publishing would refuse these prompts after the push.
function refuseRest({ compared }: Workspace, changes: readonly Change[]): void {
  const sent = new Set(changes.map(({ path }) => path))
  const rest = compared.filter((one) => !sent.has(one.path) && isUnpushed(one))
  if (rest.length === 0) return
  const isAbsent = rest.every(({ state }) => state === 'local-delete')
  throw new CliError('conflict', 'Some changes would not be pushed; nothing was sent', {
    lines: rest.map(({ path }) => path),
    hint: isAbsent
      ? 'pass --delete to delete these prompts, or restore their files with stet pull <path>'
      : 'run stet push without --publish, then stet publish --allow-dirty',
  })
}

// A file may also be absent because a checkout or a setting is wrong.
async function agreedDeletions({ deletions }: PushPlan, input: PushInput, ctx: Context): Promise<Change[]> {
  if (deletions.length === 0 || input.deletes) return deletions
  const paths = deletions.map(({ path }) => path)
  const isAgreed = !input.isDry && (await ctx.confirmDeletion('Delete these prompts, whose files are absent?', paths))
  if (isAgreed) return deletions
  ctx.warn(`The files of ${paths.join(', ')} are absent; the prompts stay (--delete deletes them)`)
  return []
}

// Finds new prompts that differ from another prompt only in case. Some systems store both as one file, so a pull would
// write neither.
function clashesOf(changes: readonly Change[], deletions: readonly Change[], { remote }: Workspace): Refusal[] {
  const deleted = new Set(deletions.map(({ path }) => path))
  const left = [...remote.keys()].filter((path) => !deleted.has(path))
  const clashes = findCaseClashes(new Set([...left, ...changes.map(({ path }) => path)]))
  return changes
    .filter(({ path, status }) => status === 'added' && clashes.has(path))
    .map(({ path }) => ({ path, reason: 'differs from a prompt on the server only in case' }))
}

interface Target {
  version: Version
  isNew: boolean
}

async function chooseTarget(
  { client, version, settings }: Workspace,
  input: PushInput,
  { changes, overwritten }: { changes: readonly Change[]; overwritten: readonly Compared[] },
  ctx: Context,
): Promise<Target> {
  // A published version is never edited, not even with --force.
  const needsDraft = input.opensNew || version.status === 'merged'
  if (input.isDry || changes.length === 0) return { version, isNew: false }
  if (needsDraft && input.draft !== undefined) {
    throw new CliError('conflict', `${input.draft} is already published`, { hint: 'run stet push --new' })
  }
  if (overwritten.length > 0) {
    const question = [
      'Overwrite the text of these prompts in the draft?',
      ...overwritten.map(({ path }) => `  ${path}`),
    ]
    if (!(await ctx.confirm(question.join('\n'), '--yes'))) throw new CliError('usage', 'Nothing was sent')
  }
  if (!needsDraft) return { version, isNew: false }
  const draft = await client.versions.create(input.name ?? (await defaultDraftName(settings.root, client)))
  // Printed immediately: if a later step fails, the draft still exists.
  ctx.say(`+ created draft "${draft.title}" (${shortUuid(draft.uuid)})`)
  return { version: draft, isNew: true }
}

// Saves the lock and returns what push says about the prompts: compile errors, and parameters for the first run. After a
// change, lists the prompts again to get their ids.
async function finish(
  workspace: Workspace,
  { version, isNew }: Target,
  selected: readonly Compared[],
  changes: readonly Change[],
  name: string | undefined,
): Promise<{ pushed: UnresolvedPrompt[]; required: string[] }> {
  const { client, remote, entries, followsLive } = workspace
  const prompts = changes.length > 0 ? await listPrompts(client, { versionUuid: version.uuid }) : [...remote.values()]
  const after = new Map(prompts.map((prompt) => [prompt.path, prompt]))
  const isSameDraft = workspace.settings.lock?.version.uuid === version.uuid
  // Before its first change in this draft, a prompt has live's text. This text is the base of the change.
  const baseInLive = (path: string): string | undefined => {
    const known = isSameDraft ? entries[path]?.live : undefined
    if (known !== undefined) return known
    const there = remote.get(path)
    return there?.commitId === version.id ? undefined : (there?.contentHash ?? '')
  }
  const next = entriesAfterPush(entries, selected, changes, after, baseInLive)
  // The API cannot rename a draft, so the lock keeps the name for publishing.
  const title = isNew || name === version.title ? undefined : name
  await saveLock(workspace, version, followsLive && !isNew, next, title)
  const sent = new Set(changes.map(({ path }) => path))
  const pushed = prompts.filter((prompt) => sent.has(prompt.path))
  const first = firstToRun(changes)
  return { pushed, required: requiredParameters((first && after.get(first.path)) ?? { parameters: {} }) }
}

function firstToRun<T extends Pick<Change, 'path' | 'status'>>(changes: readonly T[]): T | undefined {
  return changes.find(({ status }) => status !== 'deleted')
}

function requiredParameters({ parameters }: Pick<Prompt, 'parameters'>): string[] {
  return Object.entries(parameters)
    .filter(([, { required }]) => required === true)
    .map(([name]) => name)
}

/** Quoted for a shell if necessary. */
function runArguments(path: string, required: readonly string[]): string {
  const parts = [path, ...required.flatMap((name) => ['-p', `${name}=…`])]
  const quoted = parts.map((part) => (/^[\p{L}\p{N}_./@=…-]+$/u.test(part) ? part : `'${part}'`))
  return quoted.join(' ')
}

async function describeChange(
  { path, status, content }: Change,
  selected: readonly Compared[],
): Promise<PushReport['changes'][number]> {
  const one = selected.find((candidate) => candidate.path === path)
  const lines = formatCount(await countLines(one?.remoteText, content))
  return { path, status, hash: content === undefined ? null : (one?.localHash ?? null), lines }
}

function sayPushed(report: PushReport, ctx: Context, publishes = false): void {
  const { style, say, warn, program } = ctx
  const { version, changes, isDry } = report
  const letters = { added: 'A', modified: 'M', deleted: 'D', unchanged: ' ' }
  for (const { path, status, lines } of changes) say(`${style.up} ${letters[status]} ${path}  ${lines}`)
  for (const { path, errors } of report.errors) {
    for (const { line, column, message } of errors) warn(`${path}:${line}:${column} ${message}`)
  }
  for (const { path, issues } of report.issues) {
    for (const { severity, line, column, message } of issues) warn(`${path}:${line}:${column} ${severity}: ${message}`)
  }
  if (changes.length === 0) say(`${style.ok} Nothing to push`)
  else if (isDry) say(`${countOf(changes.length, 'change')} would be pushed`)
  else {
    say(`${style.ok} ${countOf(changes.length, 'change')} pushed in ${(report.durationMs / 1000).toFixed(1)} s`)
    const first = firstToRun(changes)
    if (first && !publishes) say(`  Try it:   ${program} run ${runArguments(first.path, report.required)}`)
    if (version.status === 'draft' && !publishes) say(`  Publish:  ${program} publish`)
  }
}
