import type { Prompt } from '@stet/sdk'
import type { Autosave, Problem, Stored } from '../autosave.ts'
import type { OfferedText, PromptPlace } from './unsaved-copy.ts'

/** The one status of an open prompt. */
export type SaveStatus =
  | { kind: 'saved'; at: number | null }
  | { kind: 'saving' }
  /** Not saved. The text is kept in this browser and usually retried automatically. */
  | { kind: 'kept'; problem: Problem; isKept: boolean }
  | { kind: 'conflict'; stored: Stored }
  /** Live, and unchanged. */
  | { kind: 'live' }

/** A buffer as the screen shows it. */
export interface BufferSnapshot {
  /** Where the text is saved. It differs from the address for a moment, when typing on live has found a draft. */
  place: PromptPlace
  /** As the server returned it last. Its `parameters`, `config` and `errors` belong to the last saved text. */
  document: Prompt
  /** At most 120 ms older than the editor's text. `PromptBuffer.state.text` is always current. */
  text: string
  status: SaveStatus
  /** The author of the text that came in last, and its time (milliseconds since 1970). Null after the next key. */
  arrived: { by: string | null; at: number } | null
  /** Text of an earlier page that was not saved. */
  offered: OfferedText | null
}

/** The parts of a buffer that a snapshot is made of. */
interface Source extends Pick<BufferSnapshot, 'place' | 'document' | 'arrived'> {
  state: Autosave
  savedAt: number | null
  isKept: boolean
  offered: readonly OfferedText[]
}

export function snapshotOf(buffer: Source): BufferSnapshot {
  const { place, document, state, arrived, offered } = buffer
  const status = statusOf(buffer)
  return { place, document, text: state.text, status, arrived, offered: offered[0] ?? null }
}

function statusOf({ state, savedAt, isKept }: Source): SaveStatus {
  const { conflict, problem, place, text, base, sending, unsure } = state
  if (conflict) return { kind: 'conflict', stored: conflict }
  if (problem) return { kind: 'kept', problem, isKept }
  if (sending || unsure || text !== base.text || place === 'moving') return { kind: 'saving' }
  return place === 'live' ? { kind: 'live' } : { kind: 'saved', at: savedAt }
}
