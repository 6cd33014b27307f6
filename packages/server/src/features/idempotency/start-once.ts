import type { Needs } from '../deps.ts'
import { isStored, readResponse, writeResponse } from './idempotency-key.ts'
import type { Claim, ClaimedRun, StoredResponse } from './ports.ts'

type Earlier = { run: ClaimedRun } | { response: StoredResponse }

/**
 * @param start stores the run and its idempotency record in one transaction. Throws if the record exists.
 * @throws errors of `start`; AppError UnprocessableEntityError for another body with the same key.
 */
export async function startOnce<T>(
  deps: Needs<'stores' | 'secrets' | 'runs' | 'logger'>,
  { claim, start, failure }: { claim: Claim; start(): Promise<T>; failure(error: unknown): StoredResponse },
): Promise<{ started: T } | Earlier> {
  try {
    return { started: await start() }
  } catch (error) {
    const earlier = await findEarlier(deps, claim)
    if (earlier) return earlier
    const response = failure(error)
    if (!isStored(response)) throw error
    const text = writeResponse(deps, claim, response)
    // A failure here must not change the caller's response.
    const isKept = await deps.stores.idempotency.claim(claim, deps.runs.settings.instanceId, text).catch(() => {
      deps.logger.warn('idempotency.answer-not-kept')
      return true
    })
    if (isKept) throw error
    // Another request has stored its record first.
    const other = await findEarlier(deps, claim)
    if (other) return other
    throw error
  }
}

async function findEarlier(deps: Needs<'stores' | 'secrets'>, claim: Claim): Promise<Earlier | undefined> {
  const record = await deps.stores.idempotency.find(claim.id)
  const response = record && readResponse(deps, claim, record)
  if (response) return { response }
  return record?.run ? { run: record.run } : undefined
}
