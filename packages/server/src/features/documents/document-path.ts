/** Paths of documents: one spelling for each, the grammar for new ones, and guesses for mistyped ones. */
import { refuse } from '../../shared/app-error.ts'
import { similarNames } from '../../shared/text/similar-names.ts'

const segment = /^[\p{L}\p{M}\p{Nd}_.-]+$/u
const maxBytes = 512
// Composing makes two bytes of seven at the most, so what is longer is no path whatever it is made of.
const maxComposableBytes = 3.5 * maxBytes

/**
 * NFC, without leading slashes and without one trailing slash; the same for paths in URLs and in bodies. What is too long
 * for a path in any form is not composed: that takes a time that grows with the square of the marks in a row.
 */
export function normalizeDocumentPath(path: string): string {
  return composed(withoutLeadingSlashes(path).replace(/\/$/, ''))
}

/** The leading part of a path: its trailing slash belongs to it. */
export function normalizePathPrefix(prefix: string): string {
  return composed(withoutLeadingSlashes(prefix))
}

function withoutLeadingSlashes(path: string): string {
  return path.replace(/^\/+/, '')
}

function composed(text: string): string {
  return Buffer.byteLength(text) > maxComposableBytes ? text : text.normalize('NFC')
}

/** Whether a document could have this path; what could not exist need not be looked up. */
export function isCreatablePath(path: string): boolean {
  if (Buffer.byteLength(path) > maxBytes) return false
  return path.split('/').every((part) => segment.test(part) && part !== '.' && part !== '..')
}

/** @throws AppError BadRequestError for a path that no new document may have. */
export function assertCreatablePath(path: string): void {
  if (isCreatablePath(path)) return
  if (Buffer.byteLength(path) > maxBytes) throw refuse('path-too-long', { limit: maxBytes })
  throw refuse('invalid-path', { path })
}

/** Code point order, the order of every list of paths; UTF-16 order differs from it beyond the basic plane. */
export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** The candidates that look most like `path`, best first. */
export function similarPaths(path: string, candidates: readonly string[], limit: number): string[] {
  return similarNames(path, candidates, { limit, atLeast: 0.35 })
}
