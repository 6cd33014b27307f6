import { createHash } from 'node:crypto'
import { customAlphabet } from 'nanoid'

/** Random base62 text of the given length. */
export const randomText = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')

/** `call_` plus 24 base62 characters: unique on the server, and within every provider's limit of 40. */
export function newToolCallId(): string {
  return `call_${randomText(24)}`
}

const namespace = Buffer.from('5f1b6c0e9d7a4c3bb2e80a4f6d1c7e93', 'hex')

/** A UUID v5 in stet's own name space: the same parts always give the same uuid. */
export function uuidV5(...parts: readonly (string | number)[]): string {
  const hash = createHash('sha1').update(namespace).update(JSON.stringify(parts)).digest().subarray(0, 16)
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
