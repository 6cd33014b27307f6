/**
 * Makes a draft live. Fails if an affected prompt does not compile. Without force, also fails if live has newer changes
 * of a prompt that the draft changes.
 */

import { createHash } from 'node:crypto'
import type { PublishVersionBody, ReleaseFinding } from '@stet/contract/vocabulary'
import { AppError, refuse } from '../../shared/app-error.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import { checkText, hashContent, inBatches, loadFromVersion } from '../documents/check-document.ts'
import type { DocumentText, TextHead } from '../documents/document.ts'
import { comparePaths } from '../documents/document-path.ts'
import { isChange, isConflict } from '../documents/overlay.ts'
import type { SlotOf } from '../documents/ports.ts'
import { readTexts } from '../documents/read-texts.ts'
import { assertServed, findProject, findVersionRow, ownerOf, type VersionAddress } from '../documents/version-ref.ts'
import type { RecordedVersion, Version } from '../projects/project.ts'
import type { EvaluationOwner, TemplateScan } from '../templates/template-engine.ts'
import { mergeDraft } from './merge-draft.ts'

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
    const { draft, changes } = await readDraft(deps.stores, input)
    const compiled = await compileDraft(deps, ownerOf(input), draft, changes)
    if (input.block?.includes('configuration')) assertConfigured(compiled.changed)
    try {
      return await changeProject(deps, input, (writer) => publishCompiled(writer, input, compiled))
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error
    }
  }
  throw refuse('draft-kept-changing')
}

/** Rolls back a transaction that would publish uncompiled texts. */
class ChangedMeanwhile extends Error {}

async function publishCompiled(
  writer: ProjectWriter,
  input: PublishVersionInput,
  compiled: CompiledDraft,
): Promise<RecordedVersion> {
  const { stores, at, project } = writer
  const { workspaceId, author } = input.caller
  assertServed(project, input.expectedVersionUuid)
  const { draft, slots, changes } = await readDraft(stores, input)
  const texts = await stores.documents.list(workspaceId, draft, { paths: compiled.paths, orReferring: true })
  if (fingerprint(hashesIn(texts), changes) !== compiled.fingerprint) throw new ChangedMeanwhile()
  const publication = {
    title: input.title || draft.title,
    description: input.description === undefined ? draft.description : input.description || null,
    at,
    publishedBy: author.id,
  }
  const { caller, reason } = input
  const version = await mergeDraft(writer, { caller, draft, slots, changes, publication, reason })
  await stores.projects.touch(workspaceId, draft.projectId, at)
  const { uuid: versionUuid, number } = version
  writer.audit('audit.publish', {
    workspaceId,
    versionUuid,
    number,
    force: input.force === true,
    by: input.caller.apiKeyId,
  })
  return { ...version, publishedBy: author, forcedEdits: [] }
}

/** Returns the draft, its slots, and those that would change live. @throws AppError BadRequestError, ConflictError. */
async function readDraft(
  stores: Stores,
  input: PublishVersionInput,
): Promise<{ draft: Version; slots: SlotHead[]; changes: SlotHead[] }> {
  const draft = await findDraft(stores, input)
  const slots = await stores.documents.listSlotHeads(input.caller.workspaceId, draft)
  const changes = slots.filter(isChange)
  if (!input.force) assertNoConflict(changes.filter(isConflict))
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

function assertNoConflict(slots: readonly SlotHead[]): void {
  if (slots.length === 0) return
  const conflicts = slots.map(({ path, draft, live }) => ({
    path,
    documentUuid: live?.documentUuid ?? draft?.documentUuid,
    baseHash: draft?.baseHash ?? null,
    liveHash: live?.contentHash ?? null,
    draftHash: draft && draft.deletedAt === null ? draft.contentHash : null,
  }))
  throw refuse('live-changed', { conflicts })
}

/** The result of a successful compilation. Valid until a text at `paths` or a text with references changes. */
interface CompiledDraft {
  paths: readonly string[]
  fingerprint: string
  changed: readonly CheckedHead[]
}

/**
 * Compiles the draft's current texts, which may be newer than `changes`. The fingerprint covers both.
 * @throws AppError UnprocessableEntityError with each document's errors.
 */
async function compileDraft(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  draft: Version,
  changes: readonly SlotHead[],
): Promise<CompiledDraft> {
  const { workspaceId } = owner
  const changed = new Set(changes.map((slot) => slot.path))
  const texts = readTexts(deps.stores, workspaceId, draft, { paths: [...changed], orReferring: true })
  const load = loadFromVersion(deps, workspaceId, draft)
  const checked: CheckedHead[] = []
  const hashes = new Map<string, string>()
  const check = (text: DocumentText) => checkText(deps, text, load, owner)
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
