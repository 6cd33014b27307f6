/**
 * Lists a version's prompts without their texts. Nothing is compiled here: `compiles`, `isConfigured` and `isAgent` come
 * from what this server compiled before, with exactly these texts, and are null otherwise.
 */
import type { TreeItem as ItemBody } from '@stet/contract/vocabulary'
import type { Needs } from '../deps.ts'
import type { TextHead } from '../documents/document.ts'
import { isChange, type Moves, movesIn, shownIn } from '../documents/overlay.ts'
import type { SlotOf } from '../documents/ports.ts'
import { resolveVersion, type VersionAddress } from '../documents/version-ref.ts'
import type { RecordedVersion } from '../projects/project.ts'
import { recordedVersion } from './read-versions.ts'

export interface TreeItem extends TextHead, Moves, Pick<ItemBody, 'change' | 'compiles' | 'isConfigured' | 'isAgent'> {}

/** Sends one statement besides the cached version and its record. @throws AppError NotFoundError for the project or the version. */
export async function readTree(
  deps: Needs<'stores' | 'liveCache' | 'templates'>,
  input: VersionAddress,
): Promise<{ version: RecordedVersion; items: TreeItem[] }> {
  const { version } = await resolveVersion(deps, input)
  const { workspaceId } = input.caller
  const slots = await deps.stores.documents.listHeads(workspaceId, version)
  const hashes = new Map(slots.map((slot) => [slot.path, shownIn(slot)?.contentHash]))
  const moves = movesIn(slots)
  const items = slots.flatMap((slot) => {
    const item = treeItem(slot, moves.get(slot.path))
    if (!item) return []
    const known = deps.templates.known.find(workspaceId, item, (path) => hashes.get(path))
    const compiles = known ? known.errors.length === 0 : null
    const isConfigured = known ? known.issues.every(({ severity }) => severity !== 'error') : null
    return [{ ...item, compiles, isConfigured, isAgent: known ? known.config['type'] === 'agent' : null }]
  })
  return { version: await recordedVersion(deps, input, version), items }
}

function treeItem(slot: SlotOf<TextHead>, moves: Moves = {}): (TextHead & Moves & Pick<ItemBody, 'change'>) | null {
  const shown = shownIn(slot)
  if (!isChange(slot)) return shown && { ...headOf(shown), change: null }
  const text = shown ?? deletedIn(slot)
  const change = shown === null ? 'deleted' : slot.live ? 'modified' : 'added'
  return text && { ...headOf(text), change, ...moves }
}

/** The row of a deleted prompt that came from elsewhere keeps that prompt, not live's at the path. */
function deletedIn({ draft, live }: SlotOf<TextHead>): TextHead | null {
  if (!draft || !live || live.documentUuid === draft.documentUuid) return draft
  return { ...draft, documentUuid: live.documentUuid, contentHash: live.contentHash }
}

/** A row of the draft has `movedFrom` in another form. */
function headOf({ documentUuid, path, contentHash, updatedAt, updatedBy }: TextHead): TextHead {
  return { documentUuid, path, contentHash, updatedAt, updatedBy }
}
