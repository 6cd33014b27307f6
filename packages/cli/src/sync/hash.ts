import { createHash } from 'node:crypto'

export interface HashedText {
  /** The text with LF line endings and without a byte order mark. */
  text: string
  /** The hash of `text`, which is the server's hash after a push. */
  hash: string
  /**
   * Hashes of the text with and without the file's own line endings and byte order mark. The server may have any of
   * these forms.
   */
  hashes: ReadonlySet<string>
}

/** The server's content hash: SHA-256 of the UTF-8 bytes in hex. */
export function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

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
