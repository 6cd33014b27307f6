/** Hashes requests for idempotency records, encodes stored responses (sealed if they have a secret), and drops old records. */
import { hash } from 'node:crypto'
import { issueAt, refuse } from '../../shared/app-error.ts'
import { type Repeated, repeat } from '../../shared/clock.ts'
import type { Needs } from '../deps.ts'
import type { Claim, IdempotencyRecord, ResponseSubject, StoredResponse } from './ports.ts'

const printable = /^[\x20-\x7e]{1,255}$/

/** @throws AppError BadRequestError unless the key has 1 to 255 printable ASCII characters. */
export function claimFor({
  apiKeyId,
  method,
  path,
  key,
  body,
  ...rest
}: ResponseSubject & {
  apiKeyId: number
  method: string
  path: string
  key: string
  body: unknown
  isSecret?: boolean
}): Claim {
  if (!printable.test(key)) {
    throw refuse('invalid-idempotency-key', issueAt('Idempotency-Key', 'must have 1 to 255 printable ASCII characters'))
  }
  // Methods and paths contain no line break, so the joined text is unambiguous.
  const id = hash('sha256', [apiKeyId, method, path, key].join('\n'))
  return { id, requestHash: hash('sha256', canonicalJson(body)), ...rest }
}

/** Returns the same text for equal JSON values: keys are sorted, and there are no spaces. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
    return Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}

// Requests with these statuses had no effect, so a retry executes again.
const notStored = new Set([400, 401, 403, 404, 405, 409, 412, 413, 415, 429, 503])

export function isStored({ status }: StoredResponse): boolean {
  return !notStored.has(status)
}

export function writeResponse(deps: Needs<'secrets'>, { id, isSecret }: Claim, response: StoredResponse): string {
  const text = JSON.stringify(response)
  return isSecret ? deps.secrets.seal(text, contextOf(id)) : text
}

/**
 * @throws AppError NotFoundError if the subject was deleted; UnprocessableEntityError for another body; ConflictError if
 * a sealed response's key is lost.
 */
export function readResponse(
  deps: Needs<'secrets'>,
  { id, isSecret, requestHash }: Claim,
  { requestHash: recorded, answer, isErased }: IdempotencyRecord,
): StoredResponse | undefined {
  // The work was done once, and what it created was deleted on purpose. A retry must not create it again.
  if (isErased) throw refuse('erased')
  if (requestHash !== recorded) throw refuse('idempotency-key-reused')
  if (answer === null) return undefined
  try {
    return JSON.parse(isSecret ? deps.secrets.open(answer, contextOf(id)) : answer) as StoredResponse
  } catch {
    // The request was already executed, so it must not run again. A response without the secret would be useless.
    throw refuse('idempotency-unreadable')
  }
}

// A sealed response opens only with its record's id.
function contextOf(id: string): string {
  return `idempotency:${id}`
}

const keptMs = 24 * 3_600_000
const dropEveryMs = 60_000

export function dropIdempotencyRecords(deps: Needs<'idempotency' | 'clock' | 'logger'>): Repeated {
  return repeat(dropEveryMs, () =>
    dropOldRecords(deps).catch(() => deps.logger.warn('idempotency.records-not-dropped')),
  )
}

export async function dropOldRecords(deps: Needs<'idempotency' | 'clock'>): Promise<void> {
  const before = new Date(deps.clock.now().getTime() - keptMs)
  while ((await deps.idempotency.upkeep.dropBefore(before)) > 0);
}

/** Releases the unfinished records of dead owners. An owner with a valid lease may still finish its records. */
export async function releaseLostClaims(deps: Needs<'idempotency' | 'runs' | 'logger'>): Promise<void> {
  const count = await deps.idempotency.upkeep.releaseOthers(deps.runs.settings.instanceId)
  if (count > 0) deps.logger.warn('idempotency.claims-lost', { count })
}
