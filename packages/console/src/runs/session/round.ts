import type { RunView } from '../follow-run.ts'

/** One run of a conversation. */
export interface Round {
  /** The message that the round answers. Null for the prompt's own run. */
  said: string | null
  view: RunView
}

/** The message of the round is not in the conversation: it was refused, or the server has not taken it yet. */
export function isUnsaid({ said, view }: Round): boolean {
  return said !== null && view.conversationUuid === null
}
