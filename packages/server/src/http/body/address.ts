import { defined } from '@stet/template/defined'
import type { Request } from 'express'
import { normalizeDocumentPath } from '../../features/documents/document-path.ts'
import { largestId, readVersionRef } from '../../features/documents/version-ref.ts'
import { refuse } from '../../shared/app-error.ts'
import { refuseText } from '../../shared/text-guards.ts'

const documentsAddress = /^(\/projects\/[^/]+\/versions\/[^/]+\/documents)(?:\/(.*))?$/
const postWords = new Set(['run', 'logs', 'get-or-create', 'create-or-update', 'check', 'merge', 'move'])

/**
 * Encodes a document path, which may contain slashes, as the single segment that a route can match.
 * @param url path and query below the API prefix.
 * @throws AppError BadRequestError `Malformed path`.
 */
export function encodeDocumentPathTail(method: string, url: string): string {
  const queryAt = url.indexOf('?')
  const address = queryAt === -1 ? url : url.slice(0, queryAt)
  const [, base, tail] = documentsAddress.exec(address) ?? []
  if (tail === undefined) return url
  const query = url.slice(address.length)
  if (method === 'POST' && postWords.has(tail.replace(/\/$/, ''))) return url
  const path = readTail(tail)
  if (path === '') return base + query
  // The use case normalizes the path again, which removes one trailing slash. A path that ends with a slash therefore
  // gets a second one here.
  return `${base}/${encodeURIComponent(path.endsWith('/') ? `${path}/` : path)}${query}`
}

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

/**
 * Extracts path and query from a request target in absolute form (`GET http://host/path`, RFC 9112, 3.2.2). Returns
 * other targets unchanged.
 */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url
  const [origin] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(url) ?? []
  if (origin === undefined) return url
  const rest = url.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

type UnknownId = 'unknown-project' | 'unknown-api-key' | 'unknown-provider-key' | 'unknown-session'

/** Parses an id from 1 to `largestId`. @throws AppError with the cause `unknown` for any other text. */
export function pathId(text: string, unknown: UnknownId): number {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(id <= largestId)) throw refuse(unknown)
  return id
}

export function versionAddress(params: { projectId: string; versionUuid: string }) {
  return { projectId: pathId(params.projectId, 'unknown-project'), versionRef: params.versionUuid }
}

/** For routes that read: a version also has earlier revisions. */
export function revisionAddress(params: { projectId: string; versionUuid: string }) {
  return { projectId: pathId(params.projectId, 'unknown-project'), ...readVersionRef(params.versionUuid) }
}

export function preconditions(req: Request) {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = req.headers
  return defined({ ifMatch, ifNoneMatch })
}

/** Parses `Last-Event-ID`, a sequence of digits. Returns 0 for any other value, and without the header. */
export function lastEventId(header: string | undefined): number {
  if (header === undefined || !/^\s*\d+\s*$/.test(header)) return 0
  return Math.min(Number(header), Number.MAX_SAFE_INTEGER)
}
