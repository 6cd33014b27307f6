import { customAlphabet } from 'nanoid'

/** Random base62 text of the given length. */
export const randomText = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')

/** `call_` plus 24 base62 characters: unique on the server, and within every provider's limit of 40. */
export function newToolCallId(): string {
  return `call_${randomText(24)}`
}
