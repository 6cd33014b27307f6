/** Paths of documents: normalization, the grammar of new paths, and suggestions for mistyped ones. */
import { refuse } from '../../shared/app-error.ts'
import { similarNames } from '../../shared/similar-names.ts'

const segment = /^[\p{L}\p{M}\p{Nd}_.-]+$/u
const maxBytes = 512
// NFC shrinks seven bytes to two at most, so a longer text cannot become a valid path.
const maxComposableBytes = 3.5 * maxBytes

/**
 * NFC, without leading slashes and without one trailing slash, for paths in URLs and in bodies. A text that is too long
 * for a path is not normalized, because that takes quadratic time for combining marks.
 */
export function normalizeDocumentPath(path: string): string {
  return normalizePathPrefix(path.replace(/\/$/, ''))
}

/** A path prefix keeps its trailing slash. */
export function normalizePathPrefix(prefix: string): string {
  const text = prefix.replace(/^\/+/, '')
  return Buffer.byteLength(text) > maxComposableBytes ? text : text.normalize('NFC')
}

/** Whether a document can have this path. */
export function isCreatablePath(path: string): boolean {
  if (Buffer.byteLength(path) > maxBytes) return false
  for (const part of path.split('/')) if (!segment.test(part) || part === '.' || part === '..') return false
  return true
}

/** @throws AppError BadRequestError for a path that no new document may have. */
export function assertCreatablePath(path: string): void {
  if (isCreatablePath(path)) return
  if (Buffer.byteLength(path) > maxBytes) throw refuse('path-too-long', { limit: maxBytes })
  throw refuse('invalid-path', { path })
}

/** Code point order, which every list of paths has. UTF-16 order differs beyond the basic plane. */
export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** The most similar candidates, best first. */
export function similarPaths(path: string, candidates: readonly string[], limit: number): string[] {
  return similarNames(path, candidates, { limit, atLeast: 0.35 })
}
