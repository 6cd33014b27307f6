/** Ids that stet gives to what has none of its own. */
import { randomText } from './text/random-text.ts'

/** `call_` and 24 base62 characters: unique over the server, and short enough for every provider's limit of 40. */
export function newToolCallId(): string {
  return `call_${randomText(24)}`
}
