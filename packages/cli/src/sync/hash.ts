import { createHash } from 'node:crypto'

/** A file as text: the form that is sent and hashed. */
export interface HashedText {
  /** LF line endings, no byte order mark. */
  text: string
  /** The hash of `text`: the server's hash after a push. */
  hash: string
  /** Includes the CRLF form: a checkout may have converted line endings, and the server may have such text. */
  hashes: ReadonlySet<string>
}

/** The server's content hash: SHA-256 over UTF-8, in hex. */
export function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** Decodes UTF-8; undefined for invalid bytes. */
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
