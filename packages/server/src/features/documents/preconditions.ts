/** What a writer may demand of the text that it replaces: `If-Match`, `If-None-Match` and `baseHash`. */
import { AppError, conflict } from '../../shared/app-error.ts'

/** Header values as they were sent; an empty `baseHash` expects no document. */
export interface Preconditions {
  ifMatch?: string
  ifNoneMatch?: string
  baseHash?: string
}

export interface HashMismatch {
  path: string
  expected: string
  /** Null when there is no document. */
  actual: string | null
}

/**
 * @param actual hash of the document that the addressed version shows; null = none.
 * @throws AppError PreconditionFailedError for the headers, ConflictError for `baseHash`.
 */
export function assertPreconditions(path: string, actual: string | null, wanted: Preconditions): void {
  if (wanted.ifMatch !== undefined && !namesHash(wanted.ifMatch, actual)) throw preconditionFailed('If-Match', path)
  if (wanted.ifNoneMatch !== undefined && namesHash(wanted.ifNoneMatch, actual))
    throw preconditionFailed('If-None-Match', path)
  const mismatch = compareBase(path, actual, wanted.baseHash)
  if (mismatch) throw baseConflict([mismatch])
}

/** Null when the base holds or none was given. */
export function compareBase(path: string, actual: string | null, baseHash: string | undefined): HashMismatch | null {
  if (baseHash === undefined || baseHash === (actual ?? '')) return null
  return { path, expected: baseHash, actual }
}

export function baseConflict(conflicts: readonly HashMismatch[]): AppError {
  return conflict(`${conflicts.length} document(s) changed since the given baseHash`, { conflicts })
}

// RFC 9110: `*` stands for any document; else a list of quoted tags. Ours are strong, a proxy may have weakened them.
function namesHash(header: string, actual: string | null): boolean {
  if (actual === null) return false
  return header.split(',').some((tag) => {
    const text = tag.trim()
    return text === '*' || text.replace(/^W\//, '').replace(/^"(.*)"$/, '$1') === actual
  })
}

function preconditionFailed(header: string, path: string): AppError {
  return new AppError('PreconditionFailedError', `${header} does not hold for the document at path: ${path}`, {
    details: { path },
  })
}
