import type { CreateVersionBody } from '@stet/contract/vocabulary'
import type { Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import type { TextHead } from '../documents/document.ts'
import { shownIn, withMoves } from '../documents/overlay.ts'
import { findProject } from '../documents/version-ref.ts'
import { newDraft, type RecordedVersion, type Version } from '../projects/project.ts'
import { noDraft, type PlannedDraft } from './drafts/compile-draft.ts'
import { publishPlanned } from './publish-version.ts'
import { readChanges } from './push/plan-changes.ts'
import { mergePush, type Push, type PushOutcome, planPush, previewOutcome, writePlan } from './push/push-changes.ts'
import { withRecord } from './read-versions.ts'

type CreateVersionInput = CreateVersionBody & { caller: Caller; projectId: number; signal?: AbortSignal }

type Creates = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'gates' | 'clock' | 'logger'>

/** A created version, and the outcome of its changes. */
export interface CreatedVersion extends RecordedVersion, PushOutcome {}

/**
 * Creates a draft over live, or takes the newest one with the name. Fills and publishes it in the same transaction.
 * @throws AppError as `pushChanges` and `publishVersion`; ConflictError if `replace` would drop others' changes.
 */
export async function createVersion(deps: Creates, input: CreateVersionInput): Promise<CreatedVersion> {
  const push = { changes: readChanges(input.changes ?? []), replaces: input.replace === true }
  const findSet = async () => {
    await findProject(deps, input.caller, input.projectId)
    return (!push.replaces && (await findReused(deps.stores, input))) || noDraft(input.projectId)
  }
  const fill = async (filling: Push) => {
    const outcome = await previewOutcome(deps, input, filling, findSet)
    return { ...(await fillVersion(deps, input, filling)), ...outcome }
  }
  const theirs = input.reuse && !push.replaces ? 'draft' : 'live'
  return input.merge ? mergePush(deps, { ...input, theirs, findSet }, push, fill) : fill(push)
}

async function fillVersion(deps: Creates, input: CreateVersionInput, push: Push): Promise<RecordedVersion> {
  const { publish, caller, projectId, signal } = input
  if (publish) {
    return publishPlanned(
      deps,
      { ...publish, caller, projectId, ...(signal && { signal }) },
      {
        plan: (stores) => planDraft(stores, input, push, deps.clock.now()),
        write: (writer) => writeDraft(writer, input, push),
      },
    )
  }
  return changeProject(deps, input, async (writer) => {
    const draft = await writeDraft(writer, input, push)
    const isEmpty = !input.reuse && push.changes.size === 0
    return isEmpty ? { ...draft, ...newDraft } : withRecord(writer.stores, caller.workspaceId, draft)
  })
}

async function writeDraft(writer: ProjectWriter, input: CreateVersionInput, push: Push): Promise<Version> {
  const { stores, project, at, touch } = writer
  const { workspaceId, author } = input.caller
  const reused = await findReused(stores, input)
  const draft =
    reused ??
    (await stores.versions.create(workspaceId, project.id, {
      title: input.name,
      authorId: author.id,
      parentVersionUuid: project.liveVersionUuid,
      at,
    }))
  const plans = push.changes.size > 0 || (push.replaces && reused !== null)
  const isWritten =
    plans &&
    (await writePlan(stores, workspaceId, draft, await planPush(stores, draft, { ...push, caller: input.caller, at })))
  if (reused && !isWritten) return draft
  await touch(draft)
  return { ...draft, updatedAt: at }
}

async function findReused({ versions }: Stores, input: CreateVersionInput): Promise<Version | null> {
  return input.reuse ? versions.findDraftOptional(input.caller.workspaceId, input.projectId, input.name) : null
}

/** Returns what `writeDraft` would write. */
async function planDraft(stores: Stores, input: CreateVersionInput, push: Push, at: Date): Promise<PlannedDraft> {
  const none = noDraft(input.projectId)
  const draft = (await findReused(stores, input)) ?? none
  const { slots } = await planPush(stores, draft, { ...push, caller: input.caller, at })
  const written = new Map(slots.map((slot) => [slot.path, shownIn(slot)]))
  if (push.replaces) return { set: none, slots: withMoves<TextHead>(slots), written }
  const heads = await stores.documents.listSlotHeads(input.caller.workspaceId, draft)
  const others = heads.filter(({ path }) => !written.has(path))
  return { set: draft, slots: withMoves<TextHead>([...others, ...slots]), written }
}
