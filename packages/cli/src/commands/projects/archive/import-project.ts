import type { ImportVersionBody } from '@stet/contract/vocabulary'
import type { Change, Version } from '@stet/sdk'
import { CliError } from '../../../exit-code.ts'
import { listPrompts } from '../../../sync/list-prompts.ts'
import type { ArchivedChange, ArchivedRevision, ArchivedVersion } from './archive-lines.ts'
import { documentFinder, type ImportedEvaluation, importEvaluations, importExamples } from './import-evaluations.ts'
import { draftTitle, type ImportInput } from './import-target.ts'
import { isDraft, liveOf, promptsAt, publishedAt } from './project-archive.ts'

/** Limits of one push: the server's maximum number of changes, and half of its default body limit. */
const maxChanges = 1_000
const maxPushBytes = 2 * 1024 * 1024
/** The server's limit for one import. */
const maxRevisions = 100

export interface ImportedHistory {
  /** Versions imported by this call. */
  versions: number
  drafts: number
  evaluations: ImportedEvaluation[]
  examples: number
}

/**
 * Replays the history: creates each draft when its parent is live, makes the merged versions live in their order, then
 * moves live back and repeats the forced edits. Continues after what the target already has.
 */
export async function importHistory(input: ImportInput): Promise<ImportedHistory> {
  const { client, archive, target, signal, onProgress } = input
  const merged = archive.versions.filter((version) => !isDraft(version))
  const drafts = archive.versions.filter(isDraft)
  const made = new Map<ArchivedVersion, Version>()
  for (let live = target.merged.length; live <= merged.length; live += 1) {
    const open = [...merged.slice(live), ...drafts]
    for (const version of open) {
      if (made.has(version) || (version.parent ?? 0) > live) continue
      made.set(version, await makeDraft(input, version))
    }
    const next = merged[live]
    if (!next) break
    const isContinued = live > 0 && live === target.merged.length
    await push(input, made.get(next), isContinued ? await changesOverLive(input, live + 1) : next.changes)
    made.set(next, await describe(input, next, made.get(next)))
    onProgress(live + 1, archive.versions.length)
  }
  for (const [index, version] of target.merged.entries()) {
    const own = merged[index]
    if (own) made.set(own, version)
  }
  const served = merged[archive.live - 1]
  const isPublished = target.merged.length < merged.length
  const nowLive = isPublished ? merged.length : target.merged.findIndex(({ isLive }) => isLive) + 1
  // Before the edits: a rollback to an edited version makes a new one.
  if (served && archive.live !== nowLive)
    await client.environments.rollback('live', { projectId: target.projectId, signal, to: target.uuidOf(served) })
  for (const version of merged) await replay(input, version, made.get(version))
  for (const [index, draft] of drafts.entries()) {
    await push(input, made.get(draft), draft.changes)
    made.set(draft, await describe(input, draft, made.get(draft)))
    onProgress(merged.length + index + 1, archive.versions.length)
  }
  await verify(input, made)
  const findDocument = documentFinder(input, made)
  const evaluations = await importEvaluations(input, findDocument)
  const examples = await importExamples(input, findDocument)
  return { versions: merged.length - target.merged.length, drafts: drafts.length, evaluations, examples }
}

/** A conflict needs a base that is older than live, so prompts in conflict are pushed before live moves on. */
async function makeDraft(input: ImportInput, version: ArchivedVersion): Promise<Version> {
  const draft = await openDraft(input, version)
  const known = publishedAt(input.archive, version.parent ?? 0)
  // A prompt that live got later can move only when live has it.
  const contested = version.changes.filter(({ conflict, from }) => conflict && (from === undefined || known.has(from)))
  if (isDraft(version)) await push(input, draft, contested)
  return draft
}

/** From its first change on, a draft has the title or the uuid by which a repeated import recognizes it. */
async function openDraft(input: ImportInput, version: ArchivedVersion): Promise<Version> {
  const { client, target, signal } = input
  const at = { projectId: target.projectId, signal }
  const taken = target.takeDraft(version)
  if (!taken) return client.versions.create(draftTitle(target.uuidOf(version)), at)
  const { draft, isOwn } = taken
  if (!isOwn) return describe(input, { ...version, mergedAt: null }, draft)
  // A draft of an interrupted import has the right bases already.
  const isKept = isDraft(version) && (await wrongIn(input, version, draft)).every(({ isMissing }) => isMissing)
  if (!isKept) await client.versions.revert(draft.uuid, at)
  return draft
}

type Pushed = Pick<ArchivedChange, 'path' | 'status' | 'hash' | 'from'>

async function push(input: ImportInput, draft: Version | undefined, archived: readonly Pushed[]): Promise<void> {
  if (!draft) throw new Error('A version has no draft')
  const { client, archive, target, signal } = input
  const at = { projectId: target.projectId, signal }
  const sources = new Set(archived.flatMap(({ from }) => from ?? []))
  if (sources.size > 0) await pushMoves(input, draft, archived)
  const changes = archived.flatMap(({ path, status, hash }): Change[] => {
    if (hash !== null) return [{ path, status, content: archive.texts.get(hash) ?? '' }]
    return sources.has(path) ? [] : [{ path, status }]
  })
  for (const part of partsOf(changes, maxChanges)) await client.versions.push(draft.uuid, part, at)
}

/** Moves the prompts that the draft has not moved yet. Their new texts follow. */
async function pushMoves(
  { client, target: { projectId }, signal }: ImportInput,
  draft: Version,
  archived: readonly Pushed[],
): Promise<void> {
  const at = { projectId, signal }
  const { items } = await client.versions.tree(draft.uuid, at)
  const origins = new Map(items.map(({ path, movedFrom }) => [path, movedFrom?.path]))
  const moves = new Map<string, string>()
  for (const { path, from } of archived) if (from !== undefined && origins.get(path) !== from) moves.set(from, path)
  const shown = new Set(items.filter(({ change }) => change !== 'deleted').map(({ path }) => path))
  const replaced = [...moves.values()].filter((path) => shown.has(path) && !moves.has(path))
  const deletions = replaced.map((path): Change => ({ path, status: 'deleted' }))
  for (const part of partsOf(deletions, maxChanges)) await client.versions.push(draft.uuid, part, at)
  for (const part of movesInParts(moves)) await client.versions.push(draft.uuid, part, at)
}

/**
 * Orders moves so that each path is free when a prompt moves there. Prompts that change places need one push; a ring of
 * too many loses its moves.
 */
function movesInParts(moves: ReadonlyMap<string, string>): Change[][] {
  const parts: Change[][] = [[]]
  const done = new Set<string>()
  for (const start of moves.keys()) {
    const chain: Change[] = []
    let from = start
    for (let path = moves.get(from); path !== undefined && !done.has(from); path = moves.get(from)) {
      done.add(from)
      chain.unshift({ path, from, status: 'moved' })
      from = path
    }
    const isRing = from === start && chain.length > 0
    if (isRing && chain.length > maxChanges) continue
    for (const group of isRing ? [chain] : chain.map((move) => [move])) {
      if ((parts.at(-1)?.length ?? 0) + group.length > maxChanges) parts.push([])
      parts.at(-1)?.push(...group)
    }
  }
  return parts.filter(({ length }) => length > 0)
}

/** The changes that make live the version `number` as it was published. Forced edits and rollbacks may have changed live. */
async function changesOverLive(
  { client, archive, target: { projectId, merged } }: ImportInput,
  number: number,
): Promise<Pushed[]> {
  const wanted = publishedAt(archive, number)
  const live = new Map(
    (await listPrompts(client, { projectId, versionUuid: 'live' })).map(({ path, contentHash }) => [path, contentHash]),
  )
  const served = merged.findIndex(({ isLive }) => isLive) + 1
  const placeOf = new Map([...promptsAt(archive, served)].map(([path, prompt]) => [prompt, path]))
  const promptAt = promptsAt(archive, number)
  return [...new Set([...wanted.keys(), ...live.keys()])].flatMap((path) => {
    const hash = wanted.get(path) ?? null
    const place = placeOf.get(promptAt.get(path) ?? Symbol())
    const isMove = place !== undefined && place !== path && live.has(place)
    if (live.get(path) === (hash ?? undefined) && !isMove) return []
    return [{ path, hash, status: hash === null ? 'deleted' : 'modified', ...(isMove && { from: place }) }]
  })
}

function* partsOf<Item>(items: readonly Item[], most: number): Generator<Item[]> {
  let part: Item[] = []
  let bytes = 0
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item))
    if (part.length === most || (part.length > 0 && bytes + size > maxPushBytes)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += size
  }
  if (part.length > 0) yield part
}

/** Repeats the forced edits that the imported version does not have yet. */
async function replay(input: ImportInput, version: ArchivedVersion, there: Version | undefined): Promise<void> {
  const { client, archive, target, signal } = input
  const { projectId, uuidOf } = target
  const all = version.revisions ?? []
  const missing = all.slice(there?.revision).map(({ path, hash, author, createdAt }) => {
    return { path, prompt: archive.texts.get(hash) ?? '', ...authorOf(author), createdAt }
  })
  const history = historyOf(input, version)
  for (const revisions of partsOf(missing, maxRevisions))
    there = await client.versions.import(uuidOf(version), { ...history, revisions }, { projectId, signal })
  if (all.length > 0 && there?.revision !== all.length) throw differs([`version ${version.number}`])
}

/** Gives the draft the uuid and the history of the version. With `mergedAt`, it becomes live. */
async function describe(input: ImportInput, version: ArchivedVersion, draft: Version | undefined): Promise<Version> {
  if (!draft) throw new Error('A version has no draft')
  const { client, target, signal } = input
  return client.versions.import(draft.uuid, historyOf(input, version), { projectId: target.projectId, signal })
}

function historyOf(
  { archive, target: { uuidOf } }: ImportInput,
  { base, title, description, author, createdAt, mergedAt, ...version }: ArchivedVersion,
): ImportVersionBody {
  const changed = base && archive.versions[base.number - 1]
  return {
    uuid: uuidOf(version),
    title,
    ...(description !== null && { description }),
    ...authorOf(author),
    createdAt,
    ...(mergedAt !== null && { mergedAt }),
    ...(changed && { baseVersionUuid: uuidOf(changed), baseRevision: base.revision }),
  }
}

function authorOf({ name, email }: ArchivedRevision['author']): { authorName: string; authorEmail?: string } {
  return { authorName: name, ...(email !== '' && { authorEmail: email }) }
}

/** Lists the paths at which the archive and the draft differ. */
async function wrongIn(
  { client, target: { projectId }, signal }: ImportInput,
  version: ArchivedVersion,
  draft: Version,
): Promise<{ path: string; isMissing: boolean }[]> {
  const { changes } = await client.versions.diff(draft.uuid, { projectId, signal })
  const expected = new Map(version.changes.map(({ path, hash }) => [path, hash]))
  const given = new Map(changes.map(({ path, after }) => [path, after?.contentHash ?? null]))
  return [...new Set([...expected.keys(), ...given.keys()])]
    .filter((path) => given.get(path) !== expected.get(path))
    .map((path) => ({ path, isMissing: !given.has(path) }))
}

/** Compares live and the drafts with the archive, prompt by prompt. */
async function verify(input: ImportInput, made: ReadonlyMap<ArchivedVersion, Version>): Promise<void> {
  const { client, archive, target } = input
  const { projectId } = target
  const expected = liveOf(archive)
  const live = archive.live === 0 ? [] : await listPrompts(client, { projectId, versionUuid: 'live' })
  const wrong = new Set(expected.keys())
  for (const { path, contentHash } of live) {
    if (expected.get(path) === contentHash) wrong.delete(path)
    else wrong.add(path)
  }
  for (const [version, draft] of made) {
    if (!isDraft(version)) continue
    for (const { path } of await wrongIn(input, version, draft)) wrong.add(path)
  }
  if (wrong.size === 0) return
  throw differs([...wrong].slice(0, 10))
}

function differs(lines: string[]): CliError {
  return new CliError('unexpected', 'The imported prompts differ from the archive', { lines })
}
