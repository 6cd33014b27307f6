/**
 * Makes a draft live. Fails if an affected prompt does not compile. Without force, also fails if live has newer changes
 * of a prompt that the draft changes.
 */

import { createHash } from 'node:crypto'
import type { PublishVersionBody, ReleaseFinding } from '@stet/contract/vocabulary'
import { AppError, refuse } from '../../shared/app-error.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import { checkText, hashContent, inBatches, loadFromVersion, loadWith } from '../documents/check-document.ts'
import type { DocumentText, TextHead } from '../documents/document.ts'
import { comparePaths } from '../documents/document-path.ts'
import { isChange, isConflict } from '../documents/overlay.ts'
import type { SlotOf } from '../documents/ports.ts'
import { readTexts } from '../documents/read-texts.ts'
import { findProject, findVersionRow, ownerOf, type VersionAddress } from '../documents/version-ref.ts'
import type { RecordedVersion, Version } from '../projects/project.ts'
import type { EvaluationOwner, TemplateScan } from '../templates/template-engine.ts'
import { mergeDraft } from './merge-draft.ts'
import {
  ChangedMeanwhile,
  hashesOfConflict,
  type LiveMerges,
  mergeWithLive,
  noMerges,
  withMerge,
  writeMerges,
} from './merge-with-live.ts'

type PublishVersionInput = VersionAddress & PublishVersionBody

type SlotHead = SlotOf<TextHead>

type Publishes = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'clock' | 'logger'>

// Another attempt follows only if a write changed the texts between compilation and lock. Scans are cached.
const maxAttempts = 20

/**
 * Compiles outside of any transaction. The publishing transaction verifies that the compiled texts are still current.
 * @throws AppError BadRequestError if the version is not a draft; NotFoundError for the project; ConflictError for
 * newer changes of live (unless forced), a draft that keeps changing, or a check that `block` names; UnprocessableEntityError for compile errors.
 */
export async function publishVersion(deps: Publishes, input: PublishVersionInput): Promise<RecordedVersion> {
  await findProject(deps, input.caller, input.projectId)
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    try {
      const merges = input.merge ? await mergeDraftWithLive(deps, input) : noMerges
      const { draft, changes } = await readDraft(deps.stores, input, merges)
      const compiled = await compileDraft(deps, ownerOf(input), { draft, changes, merges })
      if (input.block?.includes('configuration')) assertConfigured(compiled.changed)
      return await changeProject(deps, input, (writer) => publishCompiled(writer, input, compiled))
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error
    }
  }
  throw refuse('draft-kept-changing')
}

async function publishCompiled(
  writer: ProjectWriter,
  input: PublishVersionInput,
  compiled: CompiledDraft,
): Promise<RecordedVersion> {
  const { stores, at } = writer
  const { workspaceId, author } = input.caller
  const { draft, slots, changes } = await readDraft(stores, input, compiled.merges)
  await writeMerges(stores, workspaceId, draft, compiled.merges, { at, by: author })
  const texts = await stores.documents.list(workspaceId, draft, { paths: compiled.paths, orReferring: true })
  if (fingerprint(hashesIn(texts), changes) !== compiled.fingerprint) throw new ChangedMeanwhile()
  const publication = {
    title: input.title || draft.title,
    description: input.description === undefined ? draft.description : input.description || null,
    at,
    publishedBy: author.id,
  }
  const version = await mergeDraft(writer, { caller: input.caller, draft, slots, changes, publication })
  await stores.projects.touch(workspaceId, draft.projectId, at)
  const { uuid: versionUuid, number } = version
  writer.audit('audit.publish', {
    workspaceId,
    versionUuid,
    number,
    force: input.force === true,
    by: input.caller.apiKeyId,
  })
  return { ...version, publishedBy: author, changeCount: changes.length, forcedEdits: [] }
}

/** @throws AppError ConflictError for texts that cannot be merged, unless forced. */
async function mergeDraftWithLive(deps: Publishes, input: PublishVersionInput): Promise<LiveMerges> {
  const draft = await findDraft(deps.stores, input)
  const slots = await deps.stores.documents.listSlotHeads(input.caller.workspaceId, draft)
  const merges = await mergeWithLive(deps, ownerOf(input), draft, slots)
  if (!input.force && merges.conflicts.length > 0) throw refuse('live-changed', { conflicts: merges.conflicts })
  return merges
}

/**
 * Returns the draft, its slots after the merges, and those that would change live.
 * @throws AppError BadRequestError, ConflictError; ChangedMeanwhile for conflicts that are newer than the merges.
 */
async function readDraft(
  stores: Stores,
  input: PublishVersionInput,
  merges: LiveMerges,
): Promise<{ draft: Version; slots: SlotHead[]; changes: SlotHead[] }> {
  const draft = await findDraft(stores, input)
  const found = await stores.documents.listSlotHeads(input.caller.workspaceId, draft)
  const slots = found.map((slot) => withMerge(slot, merges))
  const changes = slots.filter(isChange)
  const conflicts = input.force ? [] : changes.filter(isConflict)
  if (conflicts.length > 0 && input.merge) throw new ChangedMeanwhile()
  if (conflicts.length > 0) throw refuse('live-changed', { conflicts: conflicts.map(hashesOfConflict) })
  return { draft, slots, changes }
}

/** @throws AppError BadRequestError, the same for merged, `live`, unknown, malformed and foreign versions. */
async function findDraft(stores: Stores, input: PublishVersionInput): Promise<Version> {
  const version = await findVersionRow(stores, input).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'NotFoundError') return null
    throw error
  })
  if (version?.number !== null) throw refuse('not-a-draft')
  return version
}

/** The result of a successful compilation. Valid until a text at `paths` or a text with references changes. */
interface CompiledDraft {
  paths: readonly string[]
  fingerprint: string
  changed: readonly CheckedHead[]
  /** The texts that replace those of the draft. */
  merges: LiveMerges
}

/**
 * Compiles the draft's current texts, which may be newer than `changes`. The fingerprint covers both.
 * @throws AppError UnprocessableEntityError with each document's errors.
 */
async function compileDraft(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  { draft, changes, merges }: { draft: Version; changes: readonly SlotHead[]; merges: LiveMerges },
): Promise<CompiledDraft> {
  const { workspaceId } = owner
  const changed = new Set(changes.map((slot) => slot.path))
  const texts = readTexts(deps.stores, workspaceId, draft, { paths: [...changed], orReferring: true })
  const load = loadWith(merges.clean.values(), loadFromVersion(deps, workspaceId, draft))
  const checked: CheckedHead[] = []
  const hashes = new Map<string, string>()
  const check = (text: DocumentText) => {
    const { content, contentHash } = merges.clean.get(text.path) ?? text
    return checkText(deps, { ...text, content, contentHash }, load, owner)
  }
  // Keeps no text: the resolved texts of a whole project may not fit in memory.
  for await (const { text, source, scan } of inBatches(deps, texts, owner, check)) {
    const { path, documentUuid, contentHash } = text
    checked.push({
      path,
      documentUuid,
      references: scan.references,
      errors: scan.errors,
      refusals: scan.issues.filter(({ severity }) => severity === 'error'),
    })
    hashes.set(path, contentHash)
    for (const [reference, content] of Object.entries(source.documents)) hashes.set(reference, hashContent(content))
  }
  assertNoErrors(affectedOf(checked, changed))
  return {
    paths: [...changed, ...hashes.keys()],
    fingerprint: fingerprint(hashes, changes),
    merges,
    changed: checked.filter(({ path }) => changed.has(path)),
  }
}

interface CheckedHead extends Pick<DocumentText, 'path' | 'documentUuid'>, Pick<TemplateScan, 'references' | 'errors'> {
  /** Why a run would refuse the prompt. */
  refusals: TemplateScan['issues']
}

function hashesIn(texts: readonly Pick<DocumentText, 'path' | 'contentHash'>[]): Map<string, string> {
  return new Map(texts.map(({ path, contentHash }) => [path, contentHash]))
}

function fingerprint(hashes: ReadonlyMap<string, string>, changes: readonly SlotHead[]): string {
  const hash = createHash('sha256')
  for (const path of [...hashes.keys()].sort(comparePaths)) hash.update(`${hashes.get(path)} ${path}\n`)
  for (const { path } of changes) hash.update(`* ${path}\n`)
  return hash.digest('hex')
}

function assertNoErrors(checked: readonly CheckedHead[]): void {
  const documents = checked
    .filter(({ errors }) => errors.length > 0)
    .map(({ path, documentUuid, errors }) => ({
      path,
      documentUuid,
      errors: errors.map(({ path: _path, ...issue }) => issue),
    }))
  if (documents.length > 0) throw refuse('draft-does-not-compile', { documents })
}

/** @throws AppError ConflictError for settings that a run would refuse. */
function assertConfigured(changed: readonly CheckedHead[]): void {
  const findings = changed.flatMap(({ path, refusals }) =>
    refusals.map(({ code, line, column, message }): ReleaseFinding => {
      return { check: 'configuration', code, level: 'break', path, line, column, message }
    }),
  )
  if (findings.length === 0) return
  throw refuse('release-refused', { checks: [{ name: 'configuration', state: 'blocked', findings }] })
}

/** Returns the changed documents and those that refer to one, directly or indirectly. */
function affectedOf(checked: readonly CheckedHead[], changed: ReadonlySet<string>): CheckedHead[] {
  const references = new Map(checked.map((head) => [head.path, head.references]))
  return checked.filter((head) => {
    const seen = new Set([head.path])
    // Iterating over a set also visits entries added during the iteration.
    for (const path of seen) {
      if (changed.has(path)) return true
      for (const reference of references.get(path) ?? []) seen.add(reference)
    }
    return false
  })
}
