import { createHash } from 'node:crypto'

/** A file as text: what is sent, and every hash that counts as "this file". */
export interface HashedText {
  /** LF line ends, no byte order mark. */
  text: string
  /** The hash of `text`: what the server holds after a push. */
  hash: string
  /** A checkout may have converted line ends, and the server may hold text with CRLF: each form is the same file. */
  hashes: ReadonlySet<string>
}

/** The server's content hash: SHA-256 over UTF-8, in hex. */
export function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** Reads bytes as UTF-8; undefined for anything else. */
export function hashBytes(bytes: Uint8Array): HashedText | undefined {
  let raw: string
  try {
    raw = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
  const withoutMark = raw.startsWith('\uFEFF') ? raw.slice(1) : raw
  const text = withoutMark.replaceAll('\r\n', '\n')
  const hash = hashText(text)
  const hashes = [hash, hashText(raw), hashText(withoutMark), hashText(raw.replaceAll('\r\n', '\n'))]
  return { text, hash, hashes: new Set(hashes) }
}
