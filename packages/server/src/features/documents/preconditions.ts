/** A writer's preconditions: `If-Match`, `If-None-Match` and `baseHash` for the replaced text, `liveHash` for live's. */
import { refuse } from '../../shared/app-error.ts'

export interface Preconditions extends ExpectedHashes {
  ifMatch?: string
  ifNoneMatch?: string
}

/** From a body. An empty hash expects no document. */
export interface ExpectedHashes {
  baseHash?: string
  /** The hash of the live text that was merged in. */
  liveHash?: string
}

/** The hashes at one path; null = no document. */
export interface ActualHashes {
  /** The hash of the text in the addressed version. */
  shown: string | null
  live: string | null
}

export interface HashMismatch {
  path: string
  expected: string
  /** Null if the document does not exist. */
  actual: string | null
}

/** @throws AppError PreconditionFailedError for the headers, ConflictError for the hashes of the body. */
export function assertPreconditions(path: string, actual: ActualHashes, wanted: Preconditions): void {
  const { shown } = actual
  if (wanted.ifMatch !== undefined && !namesHash(wanted.ifMatch, shown)) throw refuse('if-match-failed', { path })
  if (wanted.ifNoneMatch !== undefined && namesHash(wanted.ifNoneMatch, shown)) {
    throw refuse('if-none-match-failed', { path })
  }
  assertHashes([{ path, actual, wanted }])
}

/** @throws AppError ConflictError that names every hash that differs. */
export function assertHashes(writes: Iterable<{ path: string; actual: ActualHashes; wanted: ExpectedHashes }>): void {
  const base: HashMismatch[] = []
  const live: HashMismatch[] = []
  for (const { path, actual, wanted } of writes) {
    if (differs(wanted.baseHash, actual.shown)) base.push({ path, expected: wanted.baseHash, actual: actual.shown })
    if (differs(wanted.liveHash, actual.live)) live.push({ path, expected: wanted.liveHash, actual: actual.live })
  }
  if (base.length + live.length === 0) return
  throw refuse(base.length > 0 ? 'base-changed' : 'live-text-changed', { conflicts: [...base, ...live] })
}

function differs(expected: string | undefined, actual: string | null): expected is string {
  return expected !== undefined && hashIn(expected) !== (actual ?? '')
}

// An ETag may end with a hash of the references, which is irrelevant for the replaced text.
function hashIn(tag: string): string {
  return tag.slice(0, 64)
}

// RFC 9110: `*` matches any document; otherwise a list of quoted tags. A proxy may have weakened our strong tags.
function namesHash(header: string, actual: string | null): boolean {
  if (actual === null) return false
  return header.split(',').some((tag) => {
    const text = tag.trim()
    return text === '*' || hashIn(text.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')) === actual
  })
}
