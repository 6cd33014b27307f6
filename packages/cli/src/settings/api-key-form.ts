import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checksumLength = 6

/** Whether a text can be a key: `stet_`, 30 characters, and the CRC32 of those in 6 base62 digits. */
export function isWellFormedApiKey(key: string): boolean {
  return /^stet_[0-9A-Za-z]{36}$/.test(key) && key.endsWith(checksumOf(key.slice(0, -checksumLength)))
}

/** The part of a key that is safe to show. */
export function maskApiKey(key: string): string {
  return key.startsWith('stet_') ? `${key.slice(0, 9)}…` : '…'
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < checksumLength; index += 1) {
    digits = alphabet.charAt(rest % alphabet.length) + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}
