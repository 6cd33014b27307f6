import { randomUUID } from 'node:crypto'
import { AppError, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import type { Version } from '../projects/project.ts'
import { addRelease } from '../projects/release.ts'
import { changeProject, type ProjectWriter } from './change-project.ts'
import { checkText, describeChecked, hashContent, loadFromVersion, loadWith } from './check-document.ts'
import type { Document, DocumentText } from './document.ts'
import { assertCreatablePath, normalizeDocumentPath } from './document-path.ts'
import { assertCurrent, type CurrentWrites, mergedTexts, mergeTarget, writeMerged } from './merge/write-merged.ts'
import { deleteText, editMerged, hashesOf, type NewText, shownIn, writeText } from './overlay.ts'
import type { MergedText, Slot } from './ports.ts'
import { assertPreconditions, type Preconditions } from './preconditions.ts'
import { documentNotFound, findPrompt } from './read-document.ts'
import { findDraftRow, findVersionRow, ownerOf, resolveVersion, type VersionAddress } from './version-ref.ts'

type Writes = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'clock' | 'logger'>

export interface DocumentInput extends VersionAddress {
  path: string
  content: string
}

export interface CreateOrUpdateInput extends DocumentInput, Preconditions {
  /** Allows an in-place edit of a merged version. */
  force: boolean
  /** In a draft: merges the text if the document has changed since `baseHash`, instead of refusing the write. */
  merge?: boolean
  /** The text with the hash `baseHash`. */
  base?: string
}

/** @throws AppError BadRequestError for the path or a merged version, NotFoundError, ConflictError for a taken path. */
export async function createDocument(deps: Writes, input: DocumentInput): Promise<Document> {
  return saveDocument(deps, input, async (writer, version, path) => {
    if (version.number !== null) throw refuse('merged-version')
    const slot = await findSlot(writer, input, version, path)
    if (shownIn(slot)) throw refuse('path-taken', { path })
    return writeDraft(writer, input, version, slot)
  })
}

/** Returns an existing document unchanged. @throws AppError BadRequestError, NotFoundError. */
export async function getOrCreateDocument(deps: Writes, input: DocumentInput): Promise<Document> {
  assertCreatablePath(normalizeDocumentPath(input.path))
  for (;;) {
    const existing = await findPrompt(deps, input)
    if (existing) return describeChecked(existing.version, existing)
    try {
      return await createDocument(deps, input)
    } catch (error) {
      // Another request created the document in the meantime. The next attempt returns that document.
      if (!(error instanceof AppError && error.reason === 'path-taken')) throw error
    }
  }
}

/**
 * Without preconditions, the last write wins.
 * @throws AppError BadRequestError for the path, a merged version without force, a merged version with `liveHash`, or a
 * wrong `base`; ForbiddenError for force without the key scope `publish`; NotFoundError, PreconditionFailedError,
 * ConflictError.
 */
export async function createOrUpdateDocument(deps: Writes, input: CreateOrUpdateInput): Promise<Document> {
  const { merge, baseHash, base, content } = input
  if (!merge || baseHash === undefined) return updateDocument(deps, input)
  const path = normalizeDocumentPath(input.path)
  return writeMerged(deps, mergeTarget(deps, input), [{ path, content, baseHash, base }], (current) => {
    const { content: text, baseHash: replaced } = current.get(path) ?? { content, baseHash }
    return updateDocument(deps, { ...input, content: text ?? content, baseHash: replaced }, current)
  })
}

function updateDocument(deps: Writes, input: CreateOrUpdateInput, current?: CurrentWrites): Promise<Document> {
  const isMerged = mergedTexts(current).length > 0
  return saveDocument(
    deps,
    input,
    async (writer, version, path) => {
      if (version.number !== null) return forceText(writer, input, { ...version, number: version.number }, path)
      const slot = await findSlot(writer, input, version, path)
      if (current) assertCurrent(current, [slot])
      assertPreconditions(path, hashesOf(slot), input)
      return writeDraft(writer, input, version, slot, input.liveHash !== undefined)
    },
    isMerged,
  )
}

async function saveDocument(
  deps: Writes,
  input: DocumentInput,
  write: (writer: ProjectWriter, version: Version, path: string) => Promise<DocumentText>,
  isMerged = false,
): Promise<Document> {
  const path = normalizeDocumentPath(input.path)
  assertCreatablePath(path)
  const { version: addressed } = await resolveVersion(deps, input)
  const { content } = input
  const written = { path, content, contentHash: hashContent(content) }
  const load = loadWith(new Map([[path, written]]), loadFromVersion(deps, input.caller.workspaceId, addressed))
  const { scan } = await checkText(deps, written, load, ownerOf(input))
  return changeProject(deps, input, async (writer) => {
    const version = await findVersionRow(writer.stores, input)
    const document = describeChecked(version, { text: await write(writer, version, path), scan })
    return isMerged ? { ...document, merged: true } : document
  })
}

async function findSlot(
  { stores }: ProjectWriter,
  { caller }: VersionAddress,
  draft: Version,
  path: string,
): Promise<Slot> {
  const [slot] = await stores.documents.listSlots(caller.workspaceId, draft, [path])
  return slot ?? { path, draft: null, live: null, movedTo: null }
}

async function writeDraft(
  writer: ProjectWriter,
  input: DocumentInput,
  draft: Version,
  slot: Slot,
  isMerged = false,
): Promise<DocumentText> {
  const { workspaceId } = input.caller
  const row = writeText(slot, newText(writer, input, slot.path), isMerged)
  if (row) {
    await writer.stores.documents.saveDraft(workspaceId, draft, [row])
    await writer.touch(draft)
  }
  return readBack(writer.stores, workspaceId, draft, slot.path)
}

export async function readBack({ documents }: Stores, workspaceId: number, version: Version, path: string) {
  const text = await documents.findOptional(workspaceId, version, path)
  if (!text) throw new Error('A document that was just written is not there')
  return text
}

async function forceText(
  writer: ProjectWriter,
  input: CreateOrUpdateInput,
  version: MergedVersion,
  path: string,
): Promise<DocumentText> {
  if (!input.force) throw refuse('merged-without-force')
  const { workspaceId, apiKeyId, scopes } = input.caller
  if (!scopes.includes('publish') && !scopes.includes('admin')) {
    throw refuse('missing-publish-scope', { required: 'publish' })
  }
  if (input.liveHash !== undefined) throw refuse('live-hash-of-merged')
  const old = await writer.stores.documents.findMergedOptional(workspaceId, version, version.number, path)
  const oldHash = old?.contentHash ?? null
  assertPreconditions(path, { shown: oldHash, live: null }, input)
  const text = newText(writer, input, path)
  if (oldHash !== text.contentHash) {
    await editVersion(writer, { caller: input.caller, version, old, text })
    await writer.touch(version)
    const hashes = { oldHash, newHash: text.contentHash }
    writer.audit('audit.force-edit', { workspaceId, versionUuid: version.uuid, path, ...hashes, by: apiKeyId })
  }
  return readBack(writer.stores, workspaceId, version, path)
}

export type MergedVersion = Version & { number: number }

interface EditVersionInput {
  caller: Caller
  version: MergedVersion
  /** The text that the edit replaces. Null if the version has no such prompt. */
  old: MergedText | null
  text: NewText
}

/**
 * Edits a merged version in place. The replaced text stays readable as a revision. If live serves the version, the edit
 * is a release too. Returns the version at its new revision.
 */
export async function editVersion(
  { stores, project, at }: ProjectWriter,
  { caller, version, old, text }: EditVersionInput,
): Promise<MergedVersion> {
  const { workspaceId } = caller
  const head = await stores.versions.findHeadOptional(workspaceId, project.id)
  const replacement = editMerged(old, { ...version, isHead: head?.id === version.id }, text)
  await stores.documents.replaceMerged(workspaceId, version, replacement)
  const edited = { ...version, revision: version.revision + 1 }
  const documentUuid = old?.documentUuid ?? text.documentUuid
  await stores.documents.recordForcedEdit(workspaceId, version, {
    ...{ revision: edited.revision, old, text: { ...text, documentUuid } },
    ...{ authorId: text.by.id, at: text.at },
  })
  if (version.isLive) await addRelease(stores, { caller, project, version: edited, kind: 'edit', at })
  return edited
}

function newText({ at }: ProjectWriter, { content, caller }: DocumentInput, path: string): NewText {
  return { path, content, contentHash: hashContent(content), documentUuid: randomUUID(), at, by: caller.author }
}

/** @throws AppError BadRequestError for a merged version, NotFoundError, PreconditionFailedError. */
export async function deleteDocument(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  { ifMatch, ...input }: VersionAddress & { path: string; ifMatch?: string },
): Promise<{ documentUuid: string; path: string }> {
  const path = normalizeDocumentPath(input.path)
  const { workspaceId } = input.caller
  return changeProject(deps, input, async (writer) => {
    const { stores, at } = writer
    const version = await findDraftRow(stores, input)
    const slot = await findSlot(writer, input, version, path)
    const row = deleteText(slot, { at, by: input.caller.author })
    const deleted = shownIn(slot)
    if (!row || !deleted) throw await documentNotFound({ stores }, workspaceId, version, path)
    assertPreconditions(path, hashesOf(slot), ifMatch === undefined ? {} : { ifMatch })
    await stores.documents.saveDraft(workspaceId, version, [row])
    await writer.touch(version)
    return { documentUuid: deleted.documentUuid, path }
  })
}
