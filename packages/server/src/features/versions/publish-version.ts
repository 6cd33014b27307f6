/** Makes a draft the live version: no work of others is overwritten unseen, and nothing that cannot run goes live. */
import { AppError, conflict, invalid } from '../../shared/app-error.ts'
import type { Needs, Stores, Version } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import { isChange, isConflict } from '../documents/overlay.ts'
import type { Slot } from '../documents/ports.ts'
import { findProject, findVersionRow, ownerOf, type VersionAddress } from '../documents/version-ref.ts'
import { type CompiledDraft, compileDraft, isStillCompiled } from './check-draft.ts'

export interface PublishVersionInput extends VersionAddress {
  /** Absent or empty: the title stays. */
  title?: string
  /** Absent: the notes stay; `''` clears them. */
  description?: string
  /** The draft wins over what live changed meanwhile. */
  force: boolean
}

type Publishes = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'clock' | 'log'>

// Each attempt loses only against a writer that came between compilation and lock; compiled texts are not compiled again.
const maxAttempts = 20

/**
 * Compiles outside of any transaction; the one that publishes makes sure that nothing has changed since.
 * @throws AppError BadRequestError for anything but a draft, NotFoundError for the project, ConflictError for changes of
 * live (unless forced) or a draft that never rests, UnprocessableEntityError for texts that do not compile.
 */
export async function publishVersion(deps: Publishes, input: PublishVersionInput): Promise<Version> {
  await findProject(deps, input.caller, input.projectId)
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { draft, changes } = await readDraft(deps.stores, input)
    const compiled = await compileDraft(deps, ownerOf(input), draft, changes)
    try {
      return await changeProject(deps, input, (writer) => publishCompiled(writer, input, compiled))
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error
    }
  }
  throw conflict('The draft kept changing while it was compiled; try again', { reason: 'changing' })
}

/** Leaves the transaction: what it would publish was not compiled. */
class ChangedMeanwhile extends Error {}

async function publishCompiled(
  writer: ProjectWriter,
  input: PublishVersionInput,
  compiled: CompiledDraft,
): Promise<Version> {
  const { stores, at } = writer
  const { workspaceId } = input.caller
  const { draft, slots, changes } = await readDraft(stores, input)
  if (!(await isStillCompiled(stores, workspaceId, draft, changes, compiled))) throw new ChangedMeanwhile()

  const kept = new Set(changes)
  const equal = slots.filter((slot) => !kept.has(slot)).map((slot) => slot.path)
  const live = await stores.versions.findLiveOptional(workspaceId, draft.projectId)
  const number = (live?.number ?? 0) + 1
  await stores.documents.deleteDraft(workspaceId, draft, equal)
  await stores.documents.publishDraft(
    workspaceId,
    draft,
    number,
    changes.map(({ path }) => path),
  )
  const version = await stores.versions.publish(workspaceId, draft.projectId, draft.id, {
    number,
    title: input.title || draft.title,
    description: input.description === undefined ? draft.description : input.description || null,
    at,
  })
  await stores.projects.touch(workspaceId, draft.projectId, at)
  const { uuid: versionUuid } = version
  writer.audit('audit.publish', { workspaceId, versionUuid, number, force: input.force, by: input.caller.apiKeyId })
  return version
}

/** What the draft would publish. @throws AppError BadRequestError, ConflictError. */
async function readDraft(
  stores: Stores,
  input: PublishVersionInput,
): Promise<{ draft: Version; slots: Slot[]; changes: Slot[] }> {
  const draft = await findDraft(stores, input)
  const slots = await stores.documents.listSlots(input.caller.workspaceId, draft)
  const changes = slots.filter(isChange)
  if (!input.force) assertNoConflict(changes.filter(isConflict))
  return { draft, slots, changes }
}

/** Merged, `live`, unknown, malformed and foreign versions get one and the same answer here. */
async function findDraft(stores: Stores, input: PublishVersionInput): Promise<Version> {
  const version = await findVersionRow(stores, input).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'NotFoundError') return null
    throw error
  })
  if (version?.number !== null) throw invalid('Cannot publish: version is not a draft')
  return version
}

function assertNoConflict(slots: readonly Slot[]): void {
  if (slots.length === 0) return
  const conflicts = slots.map(({ path, draft, live }) => ({
    path,
    documentUuid: live?.documentUuid ?? draft?.documentUuid,
    baseHash: draft?.baseHash ?? null,
    liveHash: live?.contentHash ?? null,
    draftHash: draft && draft.deletedAt === null ? draft.contentHash : null,
  }))
  throw conflict(`The live version changed ${slots.length} document(s) that this draft also changes`, { conflicts })
}
