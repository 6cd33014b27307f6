import type { MoveDocumentBody } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { Needs } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import {
  type CheckedText,
  checkText,
  describeChecked,
  loadFromVersion,
  loadWith,
} from '../../documents/check-document.ts'
import type { Document } from '../../documents/document.ts'
import { shownIn } from '../../documents/overlay.ts'
import { readBack } from '../../documents/save-document.ts'
import { findDraftRow, ownerOf, type VersionAddress } from '../../documents/version-ref.ts'
import { ChangedMeanwhile, untilUnchanged } from '../drafts/compile-draft.ts'
import { readChanges } from './plan-changes.ts'
import { findBrokenReferences, type Push, planPush, writePlan } from './push-changes.ts'

type Moves = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'clock' | 'logger'>

export interface MovedDocument extends Document {
  brokenReferences: string[]
}

type MoveDocumentInput = VersionAddress & MoveDocumentBody

/**
 * @throws AppError BadRequestError for a path or a merged version; NotFoundError; ConflictError for a wrong `baseHash`, a
 * path that is not free, or a prompt that keeps changing.
 */
export async function moveDocument(deps: Moves, input: MoveDocumentInput): Promise<MovedDocument> {
  const { from, to: path, baseHash } = input
  const changes = readChanges([{ path, from, status: 'moved', ...defined({ baseHash }) }])
  const push = { changes, replaces: false }
  return untilUnchanged(async () => writeMove(deps, input, push, await previewMove(deps, input, push)))
}

type Preview = Pick<CheckedText<unknown>, 'scan'> & Pick<MovedDocument, 'path' | 'contentHash' | 'brokenReferences'>

/** Compiles the prompt at its new path, outside of the transaction that moves it. */
async function previewMove(deps: Moves, input: MoveDocumentInput, push: Push): Promise<Preview> {
  const { caller } = input
  const owner = ownerOf(input)
  const draft = await findDraftRow(deps.stores, input)
  const plan = await planPush(deps.stores, draft, { ...push, caller, at: deps.clock.now() })
  const written = new Map(plan.slots.map((slot) => [slot.path, shownIn(slot)]))
  const [path = ''] = push.changes.keys()
  const text = written.get(path)
  if (!text) throw new Error('A move without a prompt')
  const load = loadWith(written, loadFromVersion(deps, caller.workspaceId, draft))
  const { scan } = await checkText(deps, text, load, owner)
  const brokenReferences = await findBrokenReferences(deps, owner, draft, plan)
  return { path, contentHash: text.contentHash, scan, brokenReferences }
}

/** @throws ChangedMeanwhile if the prompt has another text than the one that was compiled. */
function writeMove(
  deps: Moves,
  input: MoveDocumentInput,
  push: Push,
  { path, contentHash, scan, brokenReferences }: Preview,
): Promise<MovedDocument> {
  const { caller } = input
  return changeProject(deps, input, async ({ stores, at, touch }) => {
    const draft = await findDraftRow(stores, input)
    const plan = await planPush(stores, draft, { ...push, caller, at })
    const moved = plan.slots.find((slot) => slot.path === path)
    if (!moved || shownIn(moved)?.contentHash !== contentHash) throw new ChangedMeanwhile()
    if (await writePlan(stores, caller.workspaceId, draft, plan)) await touch(draft)
    const text = await readBack(stores, caller.workspaceId, draft, path)
    return { ...describeChecked(draft, { text, scan }), brokenReferences }
  })
}
