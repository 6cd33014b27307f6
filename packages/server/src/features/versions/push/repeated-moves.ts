/** Finds the moves of a push that the draft has made before, perhaps for a request whose response was lost. */
import type { Change } from '@stet/contract/vocabulary'
import { hashContent } from '../../documents/check-document.ts'
import { shownIn } from '../../documents/overlay.ts'
import type { Slot } from '../../documents/ports.ts'
import { hashIn } from '../../documents/preconditions.ts'

/** A prompt that an earlier request moved, by its path. */
export type RepeatedMoves = ReadonlyMap<string, NonNullable<Slot['draft']>>

/** A move is no repetition if the push takes away the prompt that an earlier one has moved to its path. */
export function findRepeated(changes: ReadonlyMap<string, Change>, slots: readonly Slot[]): RepeatedMoves {
  const slotAt = new Map(slots.map((slot) => [slot.path, slot]))
  const repeated = new Map<string, NonNullable<Slot['draft']>>()
  const others = new Set<string>()
  for (const [path, change] of changes) {
    const { status, from } = change
    if (status !== 'moved' || from === undefined) continue
    const moved = slotAt.get(path)?.draft
    const isMoved = moved?.deletedAt === null && moved.movedFrom === from
    const isSwapped = changes.get(from)?.status === 'moved'
    if (isMoved && isRepeated(change, moved.contentHash, slotAt.get(from), isSwapped)) repeated.set(path, moved)
    else others.add(path)
  }
  // Iterating over a set also visits entries added during the iteration.
  for (const path of others) {
    const { from = '' } = changes.get(path) ?? {}
    if (repeated.delete(from)) others.add(from)
  }
  return repeated
}

/** The path that the prompt has left may have another prompt, which the move may mean. The hashes decide this. */
function isRepeated(change: Change, movedHash: string, origin: Slot | undefined, isSwapped: boolean): boolean {
  const other = origin && shownIn(origin)
  if (!other) return true
  const { baseHash, liveHash } = change
  if (baseHash === undefined) return liveHash !== undefined || (isSwapped && isWritten(change, movedHash) !== false)
  const base = hashIn(baseHash)
  if (base === movedHash || base === other.contentHash) return base === movedHash
  return base === origin.draft?.baseHash || isWritten(change, movedHash) === true
}

/** True if the moved prompt already has the text of the change. Undefined without a text. */
export function isWritten({ content }: Change, movedHash: string): boolean | undefined {
  return content === undefined ? undefined : hashContent(content) === movedHash
}
