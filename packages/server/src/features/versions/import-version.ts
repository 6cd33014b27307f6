import { randomUUID } from 'node:crypto'
import type { ImportedRevision, ImportVersionBody } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Author } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import { hashContent } from '../documents/check-document.ts'
import { assertCreatablePath, normalizeDocumentPath } from '../documents/document-path.ts'
import { isChange } from '../documents/overlay.ts'
import { editVersion, type MergedVersion } from '../documents/save-document.ts'
import { findVersionRow, type VersionAddress } from '../documents/version-ref.ts'
import { newDraft, type RecordedVersion, type Version } from '../projects/project.ts'
import { mergeDraft } from './merge-draft.ts'
import type { Publication } from './ports.ts'
import { withRecord } from './read-versions.ts'

type ImportVersionInput = VersionAddress & ImportVersionBody

/**
 * Gives a draft the history of a version of another project. Does not compile the prompts: they were published
 * elsewhere, and an old version may no longer compile.
 * @throws AppError BadRequestError for a merged version without `revisions`, or an invalid path in them; NotFoundError;
 * ConflictError for a uuid in use.
 */
export async function importVersion(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: ImportVersionInput,
): Promise<RecordedVersion> {
  return changeProject(deps, input, async (writer) => {
    const draft = await findVersionRow(writer.stores, input)
    const { revisions } = input
    if (isMerged(draft)) {
      if (revisions === undefined) throw refuse('merged-version')
      return replay(writer, input, draft, revisions)
    }
    const uuid = input.uuid?.toLowerCase() ?? draft.uuid
    if (uuid !== draft.uuid && !(await writer.stores.versions.freeUuid(draft.projectId, uuid)))
      throw refuse('version-uuid-taken')
    const changeCount =
      input.mergedAt === undefined
        ? (await writer.stores.documents.listHeads(input.caller.workspaceId, draft)).filter(isChange).length
        : await merge(writer, input, draft, new Date(input.mergedAt))
    const version = await describe(writer, input, draft, uuid)
    if (revisions && isMerged(version)) return replay(writer, input, version, revisions)
    return { ...version, ...newDraft, changeCount }
  })
}

function isMerged(version: Version): version is MergedVersion {
  return version.number !== null
}

/** Makes the forced edits again, with their authors and times. */
async function replay(
  writer: ProjectWriter,
  { caller, projectId }: ImportVersionInput,
  version: MergedVersion,
  revisions: readonly ImportedRevision[],
): Promise<RecordedVersion> {
  const { stores } = writer
  const { workspaceId } = caller
  let edited = version
  for (const { path: given, prompt: content, authorName, authorEmail = '', createdAt } of revisions) {
    const path = normalizeDocumentPath(given)
    assertCreatablePath(path)
    const old = await stores.documents.findMergedOptional(workspaceId, edited, edited.number, path)
    const contentHash = hashContent(content)
    if (old?.contentHash === contentHash) continue
    const by = await findAuthor(stores, workspaceId, { name: authorName, email: authorEmail })
    // A prompt that an edit added is the same one in the versions after it, which are imported before the edit.
    const next = old ? null : await stores.documents.findMergedOptional(workspaceId, edited, edited.number + 1, path)
    const documentUuid = next?.documentUuid ?? randomUUID()
    const text = { path, content, contentHash, documentUuid, at: new Date(createdAt), by }
    edited = await editVersion(writer, { caller, version: edited, old, text })
  }
  const { uuid: versionUuid } = version
  await writer.touch(version)
  writer.audit('audit.revisions-imported', { workspaceId, versionUuid, by: caller.apiKeyId })
  return withRecord(stores, workspaceId, await findVersionRow(stores, { caller, projectId, versionRef: versionUuid }))
}

/** Returns the number of changes. */
async function merge(writer: ProjectWriter, input: ImportVersionInput, draft: Version, at: Date): Promise<number> {
  const { caller, title, description } = input
  const slots = await writer.stores.documents.listSlotHeads(caller.workspaceId, draft)
  const changes = slots.filter(isChange)
  const publication = { title, description: description ?? null, at, publishedBy: null }
  const base = await findBase(writer, input)
  return (await mergeDraft(writer, { caller, draft, slots, changes, publication, base })).changeCount
}

/** @throws AppError NotFoundError for a version that is unknown or not published. */
async function findBase(
  { stores }: ProjectWriter,
  { caller, projectId, baseVersionUuid, baseRevision = 0 }: ImportVersionInput,
): Promise<Publication['base'] | undefined> {
  if (baseVersionUuid === undefined) return undefined
  const base = await stores.versions.findOptional(caller.workspaceId, projectId, baseVersionUuid.toLowerCase())
  if (!base || !isMerged(base)) throw refuse('unknown-version')
  return { id: base.id, revision: baseRevision }
}

async function describe(
  { stores, audit, touch }: ProjectWriter,
  { caller, title, description, ...input }: ImportVersionInput,
  draft: Version,
  uuid: string,
): Promise<Version> {
  const { workspaceId, apiKeyId } = caller
  const author = await findAuthor(stores, workspaceId, { name: input.authorName, email: input.authorEmail ?? '' })
  await touch(draft)
  const createdAt = new Date(input.createdAt)
  const history = { uuid, title, description: description ?? null, authorId: author.id, createdAt }
  const version = await stores.versions.update(workspaceId, draft.projectId, draft.id, history)
  audit('audit.version-imported', { workspaceId, versionUuid: uuid, by: apiKeyId })
  return version
}

async function findAuthor({ workspaces }: Stores, workspaceId: number, author: Omit<Author, 'id'>): Promise<Author> {
  return (await workspaces.findAuthor(workspaceId, author)) ?? workspaces.createAuthor(workspaceId, author)
}
