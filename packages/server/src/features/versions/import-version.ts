import type { ImportVersionBody } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Author } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import { isChange } from '../documents/overlay.ts'
import { findVersionRow, type VersionAddress } from '../documents/version-ref.ts'
import { NEW_DRAFT, type RecordedVersion, type Version } from '../projects/project.ts'
import { mergeDraft } from './merge-draft.ts'

type ImportVersionInput = VersionAddress & ImportVersionBody

/**
 * Gives a draft the history of a version of another project. Does not compile the prompts: they were published
 * elsewhere, and an old version may no longer compile.
 * @throws AppError BadRequestError for a merged version; NotFoundError;
 * ConflictError for a uuid in use.
 */
export async function importVersion(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: ImportVersionInput,
): Promise<RecordedVersion> {
  return changeProject(deps, input, async (writer) => {
    const draft = await findVersionRow(writer.stores, input)
    if (draft.number !== null) throw refuse('merged-version')
    const uuid = input.uuid?.toLowerCase() ?? draft.uuid
    if (uuid !== draft.uuid && !(await writer.stores.versions.freeUuid(draft.projectId, uuid)))
      throw refuse('version-uuid-taken')
    const changeCount =
      input.mergedAt === undefined
        ? (await writer.stores.documents.listHeads(input.caller.workspaceId, draft)).filter(isChange).length
        : await merge(writer, input, draft, new Date(input.mergedAt))
    return { ...(await describe(writer, input, draft, uuid)), ...NEW_DRAFT, changeCount }
  })
}

/** Returns the number of changes. */
async function merge(
  writer: ProjectWriter,
  { caller, title, description }: ImportVersionInput,
  draft: Version,
  at: Date,
): Promise<number> {
  const slots = await writer.stores.documents.listSlotHeads(caller.workspaceId, draft)
  const changes = slots.filter(isChange)
  const publication = { title, description: description ?? null, at, publishedBy: null }
  return (await mergeDraft(writer, { caller, draft, slots, changes, publication })).changeCount
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
