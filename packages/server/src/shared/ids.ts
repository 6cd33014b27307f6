/** Ids for things that have none of their own. */
import { randomText } from './text/random-text.ts'

/** `call_` plus 24 base62 characters: unique on the server, and within every provider's limit of 40. */
export function newToolCallId(): string {
  return `call_${randomText(24)}`
}
