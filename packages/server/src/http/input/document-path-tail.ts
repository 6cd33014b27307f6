/** Document paths contain slashes: brings every form of a documents address into one that a route can match. */
import { normalizeDocumentPath } from '../../features/documents/document-path.ts'
import { refuse } from '../../shared/app-error.ts'
import { refuseText } from '../../shared/text-guard.ts'

const documentsAddress = /^(\/projects\/[^/]+\/versions\/[^/]+\/documents)(?:\/(.*))?$/
const postWords = new Set(['run', 'logs', 'get-or-create', 'create-or-update'])

/**
 * @param url path and query below the API prefix.
 * @returns the url with the document path as one encoded segment; other urls unchanged.
 * @throws AppError BadRequestError `Malformed path`.
 */
export function encodeDocumentPathTail(method: string, url: string): string {
  const queryAt = url.indexOf('?')
  const address = queryAt === -1 ? url : url.slice(0, queryAt)
  const [, base, tail] = documentsAddress.exec(address) ?? []
  if (base === undefined) return url
  const query = queryAt === -1 ? '' : url.slice(queryAt)
  if (tail === undefined) return url
  if (method === 'POST' && postWords.has(tail.replace(/\/$/, ''))) return url
  const path = readTail(tail)
  if (path === '') return base + query
  // Paths are normalized again where they are used, which removes one more trailing slash.
  return `${base}/${encodeURIComponent(path.endsWith('/') ? `${path}/` : path)}${query}`
}

/** The document path that the end of an address means. @throws AppError BadRequestError `Malformed path`. */
function readTail(tail: string): string {
  let path: string
  try {
    path = decodeURIComponent(tail)
  } catch {
    throw refuse('malformed-path')
  }
  if (refuseText(path) !== undefined) throw refuse('malformed-path')
  return normalizeDocumentPath(path)
}
