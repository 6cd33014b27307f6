import type { Change, Version } from '@stet/sdk'
import { CliError } from '../../../exit-code.ts'
import { listPrompts } from '../../../sync/list-prompts.ts'
import { documentFinder } from './find-document.ts'
import { type ImportedEvaluation, importEvaluations } from './import-evaluations.ts'
import { importExamples } from './import-examples.ts'
import { draftTitle, type ImportInput } from './import-target.ts'
import { type ArchivedChange, type ArchivedVersion, isDraft, liveOf } from './project-archive.ts'

/** Limits of one push: the server's maximum number of changes, and half of its default body limit. */
const maxChanges = 1_000
const maxPushBytes = 2 * 1024 * 1024

export interface ImportedHistory {
  /** Versions imported by this call. */
  versions: number
  drafts: number
  evaluations: ImportedEvaluation[]
  examples: number
}

/**
 * Replays the history: creates each draft when its parent is live, and makes the merged versions live in their order.
 * Continues after the versions that the target already has.
 */
export async function importHistory(input: ImportInput): Promise<ImportedHistory> {
  const { archive, target, onProgress } = input
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
    await push(input, made.get(next), next.changes)
    made.set(next, await describe(input, next, made.get(next)))
    onProgress(live + 1, archive.versions.length)
  }
  for (const [index, draft] of drafts.entries()) {
    await push(input, made.get(draft), draft.changes)
    made.set(draft, await describe(input, draft, made.get(draft)))
    onProgress(merged.length + index + 1, archive.versions.length)
  }
  for (const [index, version] of target.merged.entries()) {
    const own = merged[index]
    if (own) made.set(own, version)
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
  const contested = version.changes.filter(({ conflict }) => conflict)
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

async function push(
  { client, archive: { texts }, target: { projectId }, signal }: ImportInput,
  draft: Version | undefined,
  archived: readonly ArchivedChange[],
): Promise<void> {
  if (!draft) throw new Error('A version has no draft')
  let part: Change[] = []
  let bytes = 0
  const send = async () => {
    if (part.length > 0) await client.versions.push(draft.uuid, part, { projectId, signal })
    part = []
    bytes = 0
  }
  for (const { path, status, hash } of archived) {
    const change: Change = hash === null ? { path, status } : { path, status, content: texts.get(hash) ?? '' }
    const size = Buffer.byteLength(JSON.stringify(change))
    if (part.length === maxChanges || bytes + size > maxPushBytes) await send()
    part.push(change)
    bytes += size
  }
  await send()
}

/** Gives the draft the uuid and the history of the version. With `mergedAt`, it becomes live. */
async function describe(
  { client, target: { projectId, uuidOf }, signal }: ImportInput,
  version: ArchivedVersion,
  draft: Version | undefined,
): Promise<Version> {
  if (!draft) throw new Error('A version has no draft')
  const { title, description, author, createdAt, mergedAt } = version
  const history = {
    uuid: uuidOf(version),
    title,
    ...(description !== null && { description }),
    authorName: author.name,
    ...(author.email !== '' && { authorEmail: author.email }),
    createdAt,
    ...(mergedAt !== null && { mergedAt }),
  }
  return client.versions.import(draft.uuid, history, { projectId, signal })
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
  const isEmpty = archive.versions.every(isDraft)
  const live = isEmpty ? [] : await listPrompts(client, { projectId, versionUuid: 'live' })
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
  throw new CliError('unexpected', 'The imported prompts differ from the archive', { lines: [...wrong].slice(0, 10) })
}
