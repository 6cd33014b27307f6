import type { Change, PushResult, Stet, UnresolvedPrompt, Version } from '@stet/sdk'
import { defineCommand } from '../command.ts'
import { annotatePrompts, findingsOf } from '../compile/annotations.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { writeMerged } from '../sync/apply.ts'
import { type Compared, isUnsettled, type PushPlan, planPush } from '../sync/compare.ts'
import { defaultDraftName, lacksHistory } from '../sync/git/git.ts'
import { listPrompts } from '../sync/list-prompts.ts'
import { rememberTexts } from '../sync/merge/known-texts.ts'
import { noteLive, rebaseOnLive } from '../sync/merge/live-merge.ts'
import { findCaseClashes } from '../sync/prompt-path.ts'
import { type Refusal, refuseEmpty } from '../sync/scan.ts'
import { entriesAfterPush, refuseTooMany, sendChanges, withBases } from '../sync/send.ts'
import {
  compareWith,
  entriesInStep,
  entriesOverLive,
  openWorkspace,
  saveLock,
  selectPaths,
  type Workspace,
} from '../sync/workspace.ts'
import { countOf, shortUuid } from '../terminal/output.ts'
import { requiredParameters } from '../ui/parameters.ts'
import { warnOfLeftRows } from './left-rows.ts'
import { isUnpushed, type PublishReport, publishedAs, publishVersion, refusalOf, sayPublished } from './publish.ts'
import { describeChanges, firstToRun, type PushReport, sayChanges, sayFindings, sayPushed } from './push-report.ts'

interface PushInput {
  names: readonly string[]
  name: string | undefined
  draft: string | undefined
  /** The name of the draft that shall have exactly the folder's changes. */
  forName: string | undefined
  opensNew: boolean
  deletes: boolean
  isForced: boolean
  isDry: boolean
  publishes: boolean
  guessesMoves: boolean
}

export const command = defineCommand({
  summary: 'Sends changed files to a draft, all or nothing. Merges changes of other lines.',
  examples: [
    'stet push',
    'stet push -m "friendlier tone"',
    'stet push support/reply --dry-run',
    'stet push --for "$BRANCH" --yes',
  ],
  args: { '[path...]': 'prompts or folders (all)' },
  flags: {
    '-m, --name <name>': 'name of the draft, also of an existing one',
    '--draft <ref>': 'send to this draft',
    '--new': 'open a new draft',
    '--for <name>': 'open the draft of this name, or replace all its changes',
    '--no-moves': 'treat moved files as deleted and new ones',
    '--delete': 'also delete prompts without a file',
    '--force': 'overwrite conflicts in the draft, with --publish in live',
    '--dry-run': 'only show what would happen',
    '--publish': 'publish too, all or nothing if the folder follows no draft',
  },
  parse(raw): PushInput {
    const draft = raw.flags.draft
    const name = raw.flags.name
    const forName = raw.flags.for
    if (draft !== undefined && raw.flags.new) throw new CliError('usage', 'Use --draft or --new, not both')
    const isNarrowed = raw.args.length > 0 || (draft ?? name) !== undefined
    if (forName !== undefined && (isNarrowed || raw.flags.new || raw.flags.publish)) {
      throw new CliError('usage', '--for sends the whole folder to a draft of its own', {
        hint: 'omit the paths, --name, --draft, --new and --publish',
      })
    }
    return {
      names: raw.args,
      name,
      draft,
      forName,
      opensNew: raw.flags.new || forName !== undefined,
      deletes: raw.flags.delete,
      isForced: raw.flags.force,
      isDry: raw.flags.dryRun,
      publishes: raw.flags.publish,
      guessesMoves: raw.flags.moves,
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
  const isIncomplete = await lacksBases(workspace)
  const merges = !isIncomplete || !needsDraft(workspace, input)
  const plan = planPush(selected, input.isForced ? 'force' : merges ? 'merge' : 'refuse')
  // Also with --force, no markers of a merge are published.
  if (input.isForced && input.publishes) plan.conflicts.push(...selected.filter(({ hasMarkers }) => hasMarkers))
  refuseConflicts(plan, isIncomplete)
  if (plan.remoteOnly.length > 0) {
    ctx.warn(`Changed on the server only, not touched: ${plan.remoteOnly.map(({ path }) => path).join(', ')}`)
  }
  const deletions = await agreedDeletions(plan, input, ctx)
  const { sendable, skipped } = skipClashes(plan.changes, deletions, workspace)
  for (const { path, reason } of skipped) ctx.warn(`Skipped ${path}: ${reason}`)
  const changes = [...sendable, ...deletions]
  if (input.publishes && !input.isDry) refuseRest(workspace, changes)
  refuseTooMany(changes)
  await warnOfLeftRows(workspace.client, { changes, selected }, ctx)
  const target: Target = input.isDry
    ? { version: workspace.version, isNew: false }
    : await send(workspace, input, { changes, selected }, ctx)
  const { merged } = target
  const { version, pushed, required } = input.isDry
    ? { version: target.version, pushed: [], required: [] }
    : await finish(workspace, input, target, selected, changes, ctx)
  await annotatePrompts(
    pushed.map((prompt) => ({ path: prompt.path, found: findingsOf(prompt) })),
    ctx,
  )
  const report: PushReport = {
    version: { uuid: version.uuid, status: version.status, name: version.title },
    isNewDraft: target.isNew,
    isDry: input.isDry,
    changes: await describeChanges(changes, selected, merged),
    errors: pushed.flatMap(({ path, errors }) => (errors.length > 0 ? [{ path, errors }] : [])),
    issues: pushed.flatMap(({ path, issues = [] }) => (issues.length > 0 ? [{ path, issues }] : [])),
    required,
    refused: [...workspace.scan.refused, ...skipped],
    durationMs: Math.round(performance.now() - startedMs),
  }
  if (target.published) {
    if (!ctx.flags.json) sayFindings(report, ctx)
    return { ...report, published: target.published }
  }
  // Only a draft can be published. Without changes, push opens no draft.
  if (!input.publishes || input.isDry || version.status !== 'draft') return report
  // Printed now, because publishing may fail.
  if (!ctx.flags.json) sayPushed(report, ctx, true)
  return { ...report, published: await publishVersion(ctx.reopened(), { ref: version.uuid }) }
}

// A published version is never edited, not even with --force.
function needsDraft({ version }: Workspace, { opensNew }: PushInput): boolean {
  return opensNew || version.status === 'merged' || Boolean(version.deletedAt)
}

// Compares the folder with live if the push needs a new draft, because a new draft starts from live.
async function openForPush(ctx: Context, input: PushInput): Promise<Workspace> {
  const workspace = await openWorkspace(ctx, input.draft, input.guessesMoves)
  const { version } = workspace
  if (version.isLive || !needsDraft(workspace, input)) return workspace
  const versions = await workspace.client.versions.list({ status: 'merged' })
  if (!versions.some(({ isLive }) => isLive)) return compareWith({}, { ...workspace, remote: new Map() })
  const overLive = await openWorkspace(ctx, 'live', input.guessesMoves)
  if (version.status !== 'draft') return overLive
  return rebaseOnLive(compareWith(entriesOverLive(overLive.entries), overLive), version)
}

// Without the texts that CI published, the base of a file is too old: a merge would undo what the file reverts.
async function lacksBases({ settings, version, compared }: Workspace): Promise<boolean> {
  if (settings.lock?.version.uuid === version.uuid || !compared.some(isUnsettled)) return false
  return lacksHistory(settings.root)
}

function refuseConflicts({ conflicts }: PushPlan, isIncomplete: boolean): void {
  if (conflicts.length === 0) return
  const lines = conflicts.map(({ path, hasMarkers }) => (hasMarkers ? `${path}  (conflict markers)` : path))
  if (conflicts.every(({ hasMarkers }) => hasMarkers)) {
    throw new CliError('conflict', 'Files contain conflict markers; nothing was sent', {
      lines,
      hint: 'resolve them and run stet push, undo the merges with stet pull --abort, or send them as text with --force and without --publish',
    })
  }
  const hint = isIncomplete
    ? 'fetch the git history (fetch-depth: 0, without --filter), so that stet finds the version that CI published'
    : 'run stet pull to merge them, then stet push'
  throw new CliError('conflict', 'Both sides changed; nothing was sent', { lines, hint })
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

// Skips new prompts that differ from another prompt only in case. A prompt whose move is skipped keeps its path, so the
// changes that need this path are skipped too: they would overwrite its text.
function skipClashes(changes: readonly Change[], deletions: readonly Change[], { remote }: Workspace) {
  let sendable = changes
  const skipped: Refusal[] = []
  for (;;) {
    const isSkipped = ({ path }: Change) => skipped.some((one) => one.path === path)
    const kept = new Set(changes.filter(isSkipped).map(({ from }) => from))
    const clashes = clashesOf(sendable, deletions, remote)
    const found = sendable.flatMap(({ path, status }): Refusal[] => {
      if (kept.has(path)) return [{ path, reason: 'its path has a prompt whose move was skipped' }]
      const isNew = status === 'added' || status === 'moved'
      return isNew && clashes.has(path) ? [{ path, reason: 'differs from a prompt on the server only in case' }] : []
    })
    if (found.length === 0) return { sendable, skipped }
    skipped.push(...found)
    sendable = sendable.filter((change) => !isSkipped(change))
  }
}

// Some systems store two such prompts as one file, so a pull would write neither.
function clashesOf(changes: readonly Change[], deletions: readonly Change[], remote: Workspace['remote']): Set<string> {
  const deleted = new Set([...deletions.map(({ path }) => path), ...changes.map(({ from }) => from)])
  const left = [...remote.keys()].filter((path) => !deleted.has(path))
  return findCaseClashes(new Set([...left, ...changes.map(({ path }) => path)]))
}

interface Target {
  version: Version
  isNew: boolean
  merged?: PushResult['merged'] | undefined
  /** Present if the request that sent the changes also published them. */
  published?: PublishReport
}

interface Sent {
  changes: Change[]
  selected: readonly Compared[]
}

/** Sends the changes in one request. It also opens, replaces or publishes a draft that this folder does not follow. */
async function send(workspace: Workspace, input: PushInput, sent: Sent, ctx: Context): Promise<Target> {
  const { client, version, settings } = workspace
  const { changes } = sent
  const opensDraft = needsDraft(workspace, input)
  if (opensDraft && input.draft !== undefined && changes.length > 0) {
    throw new CliError('conflict', `${input.draft} is already published`, { hint: 'run stet push --new' })
  }
  if (input.isForced) await agreeToOverwrite(sent, opensDraft && input.publishes ? 'live' : 'the draft', ctx)
  // The server merges changes of other lines.
  const request = { changes: await withBases(workspace, changes, ctx.io), merge: !input.isForced }
  if (opensDraft && input.forName !== undefined) return sendFor(input.forName, workspace, request, ctx)
  if (changes.length === 0) return { version, isNew: false }
  if (!opensDraft) {
    const { merge } = request
    const push = () => client.versions.push(version.uuid, request.changes, { merge })
    return { version, isNew: false, merged: (await sendChanges(client, changes, push)).merged }
  }
  const name = input.name ?? (await defaultDraftName(settings.root, client))
  if (input.publishes) return publishAtOnce(name, workspace, { sent, request }, ctx)
  const draft = await sendChanges(client, changes, () => client.versions.create(name, request))
  sayDraft('+ created', draft, ctx)
  return { version: draft, isNew: true, merged: draft.merged }
}

interface Request {
  changes: Change[]
  merge: boolean
}

async function agreeToOverwrite({ changes, selected }: Sent, place: string, ctx: Context): Promise<void> {
  const overwritten = selected.filter((one) => isUnsettled(one) && changes.some(({ path }) => path === one.path))
  if (overwritten.length === 0) return
  const question = [`Overwrite the text of these prompts in ${place}?`, ...overwritten.map(({ path }) => `  ${path}`)]
  if (!(await ctx.confirm(question.join('\n'), '--yes'))) throw new CliError('usage', 'Nothing was sent')
}

async function rename(client: Stet, version: Version, name: string | undefined, { say }: Context): Promise<Version> {
  if (name === undefined || name === version.title) return version
  const renamed = await client.versions.update(version.uuid, { name })
  say(`The draft "${version.title}" is now "${renamed.title}"`)
  return renamed
}

// Each push replaces the earlier one, so a change that the folder no longer has leaves the draft.
async function sendFor(name: string, workspace: Workspace, request: Request, ctx: Context): Promise<Target> {
  const { client, version } = workspace
  const { changes } = request
  const drafts = await client.versions.list({ status: 'draft' })
  const open = drafts.find(({ title }) => title === name)
  if (!open && changes.length === 0) return { version, isNew: false }
  const fields = { reuse: true, replace: true, ...request }
  const draft = await sendChanges(client, changes, () => client.versions.create(name, fields))
  const isNew = draft.uuid !== open?.uuid
  sayDraft(isNew ? '+ created' : 'Replaced the changes of', draft, ctx)
  return { version: draft, isNew, merged: draft.merged }
}

async function publishAtOnce(
  name: string,
  { client, version: live }: Workspace,
  { sent: { changes, selected }, request }: { sent: Sent; request: Request },
  ctx: Context,
): Promise<Target> {
  sayChanges(await describeChanges(changes, selected), ctx)
  ctx.say(`${countOf(changes.length, 'change')} · ${live.isLive ? `live is v${live.version}` : 'nothing is live yet'}`)
  if (!(await ctx.confirm('Publish to live?', '--yes'))) throw new CliError('usage', 'Nothing was sent')
  const publish = { block: ['configuration' as const] }
  const sending = sendChanges(client, changes, () => client.versions.create(name, { ...request, publish }))
  const version = await sending.catch(async (error: unknown) => {
    throw await refusalOf(error, ctx)
  })
  const published = changes.map(({ path, from, status }) => ({ path, ...(from && { from }), status, conflict: false }))
  const { merged = [] } = version
  for (const { path } of merged) ctx.say(`Merged with live: ${path}`)
  return { version, isNew: false, merged, published: publishedAs(version, published) }
}

function sayDraft(what: string, { title, uuid }: Version, { say }: Context): void {
  say(`${what} draft "${title}" (${shortUuid(uuid)})`)
}

// Saves the lock and returns what push says about the prompts: compile errors, and parameters for the first run. After a
// change, lists the prompts again to get their ids.
async function finish(
  workspace: Workspace,
  input: PushInput,
  { version, published, merged = [] }: Target,
  selected: readonly Compared[],
  changes: readonly Change[],
  ctx: Context,
): Promise<{ version: Version; pushed: UnresolvedPrompt[]; required: string[] }> {
  const { client, remote, entries, followsLive } = workspace
  const texts = [...changes, ...merged].flatMap(({ content }) => (content === undefined ? [] : [content]))
  await rememberTexts(texts, ctx.io)
  const prompts = changes.length > 0 ? await listPrompts(client, { versionUuid: version.uuid }) : [...remote.values()]
  const after = new Map(prompts.map((prompt) => [prompt.path, prompt]))
  const isSameDraft = workspace.settings.lock?.version.uuid === version.uuid
  // Before its first change in this draft, a prompt has live's text. This text is the base of the change.
  const baseInLive = (path: string, sentAs: string): string | undefined => {
    const known = isSameDraft ? entries[path]?.live : undefined
    // Live's text may be newer than the one that this push has read.
    if (known !== undefined || merged.some((one) => one.path === sentAs)) return known
    const there = remote.get(path)
    return there?.commitId === version.id ? undefined : (there?.contentHash ?? '')
  }
  const before = published ? entriesInStep(workspace) : entries
  const written = await writeMerged(workspace.promptsDir, selected, merged)
  const next = entriesAfterPush(before, selected, changes, after, baseInLive, written)
  // After a colleague's change, the text before this push is not live's.
  if (version.status === 'draft' && changes.some(({ path }) => next[path] && next[path].live === undefined)) {
    noteLive(next, (await client.versions.diff(version.uuid)).changes, next)
  }
  const edited = merged.map(({ path }) => path).filter((path) => !written.has(path))
  if (edited.length > 0) ctx.warn(`Edited during the push, not merged: ${edited.join(', ')}`)
  const isLive = version.status === 'merged' && (followsLive || published !== undefined)
  await saveLock(workspace, version, isLive, next)
  // After the lock is saved, because the new name may be refused.
  const renamed = needsDraft(workspace, input) ? version : await rename(client, version, input.name, ctx)
  if (renamed !== version) await saveLock(workspace, renamed, isLive, next)
  const sent = new Set(changes.map(({ path }) => path))
  // Prompts that refer to a path that moved no longer compile.
  const isBroken = ({ path, errors }: UnresolvedPrompt) => errors.length > 0 && remote.get(path)?.errors.length === 0
  const pushed = prompts.filter((prompt) => sent.has(prompt.path) || isBroken(prompt))
  const first = firstToRun(changes)
  return {
    version: renamed,
    pushed,
    required: requiredParameters((first && after.get(first.path)) ?? { parameters: {} }),
  }
}
