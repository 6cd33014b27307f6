/** Creates random base62 text. Reads random bytes in blocks, because a call per id costs more than the rest. */
import { randomFillSync } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 248 is the largest multiple of 62 in a byte. Bytes from 248 on would favor the first characters of the alphabet.
const unbiasedBelow = 248

const pool = Buffer.alloc(4096)
let used = pool.length

export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const byte = pool[used] ?? unbiasedBelow
    // Each byte is used once and then cleared from memory.
    pool[used] = 0
    used += 1
    if (byte < unbiasedBelow) text += alphabet.charAt(byte % alphabet.length)
  }
  return text
}

/** Returns an id that is unique on this server. Its 29 characters are within every provider's limit of 40. */
export function newToolCallId(): string {
  return `call_${randomText(24)}`
}
