/** A writer's preconditions. `liveHash` applies to live's text, the other three to the replaced text. */
import type { Change } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'

type ExpectedHashes = Pick<Change, 'baseHash' | 'liveHash'>

export interface Preconditions extends ExpectedHashes {
  ifMatch?: string
  ifNoneMatch?: string
}

export interface ActualHashes {
  shown: string | null
  live: string | null
}

/** @throws AppError PreconditionFailedError for the headers, ConflictError for the body's hashes. */
export function assertPreconditions(path: string, actual: ActualHashes, wanted: Preconditions): void {
  const { shown } = actual
  if (wanted.ifMatch !== undefined && !namesHash(wanted.ifMatch, shown)) throw refuse('if-match-failed', { path })
  if (wanted.ifNoneMatch !== undefined && namesHash(wanted.ifNoneMatch, shown)) {
    throw refuse('if-none-match-failed', { path })
  }
  assertHashes([{ path, actual, wanted }])
}

/** @throws AppError ConflictError with all hashes that differ. */
export function assertHashes(writes: Iterable<{ path: string; actual: ActualHashes; wanted: ExpectedHashes }>): void {
  const base: object[] = []
  const live: object[] = []
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

// An ETag may end with a hash of the resolved content. It is dropped, because a write replaces only the text.
export function hashIn(tag: string): string {
  return tag.slice(0, 64)
}

// RFC 9110: `*` matches any document; otherwise the header lists quoted tags. A proxy may have weakened our tags.
function namesHash(header: string, actual: string | null): boolean {
  if (actual === null) return false
  return header.split(',').some((tag) => {
    const text = tag.trim()
    return text === '*' || hashIn(text.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')) === actual
  })
}
