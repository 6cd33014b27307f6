import { similarNames } from '@stet/template/similar-names'
import { refuse } from '../../shared/app-error.ts'

const segment = /^[\p{L}\p{M}\p{Nd}_.-]+$/u
const maxBytes = 512
// NFC shrinks a text by a factor of 3.5 at most, so a longer text cannot become a valid path.
const maxComposableBytes = 3.5 * maxBytes

/**
 * Trims all leading slashes and one trailing slash, then applies NFC. NFC is skipped for a text that is too long for a
 * path, because NFC takes quadratic time for combining marks.
 */
export function normalizeDocumentPath(path: string): string {
  return normalizePathPrefix(path.replace(/\/$/, ''))
}

export function normalizePathPrefix(prefix: string): string {
  const text = prefix.replace(/^\/+/, '')
  return Buffer.byteLength(text) > maxComposableBytes ? text : text.normalize('NFC')
}

export function isCreatablePath(path: string): boolean {
  if (Buffer.byteLength(path) > maxBytes) return false
  for (const part of path.split('/')) if (!segment.test(part) || part === '.' || part === '..') return false
  return true
}

/** @throws AppError BadRequestError for an invalid path or one that is too long. */
export function assertCreatablePath(path: string): void {
  if (isCreatablePath(path)) return
  if (Buffer.byteLength(path) > maxBytes) throw refuse('path-too-long', { limit: maxBytes })
  throw refuse('invalid-path', { path })
}

/** Orders by code point, like every list of paths. UTF-16 order differs for characters above U+FFFF. */
export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

export function similarPaths(path: string, candidates: readonly string[], limit: number): string[] {
  return similarNames(path, candidates, { limit, atLeast: 0.35 })
}
