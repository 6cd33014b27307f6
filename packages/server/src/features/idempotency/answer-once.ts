import { refuse } from '../../shared/app-error.ts'
import type { Needs, Stores } from '../deps.ts'
import { isStored, readResponse, writeResponse } from './idempotency-key.ts'
import type { Claim, ClaimedRun, ResponseSubject, StoredResponse } from './ports.ts'

type OnceDeps = Needs<'stores' | 'transaction' | 'singleWrite' | 'secrets' | 'runs' | 'idempotency' | 'logger'>

/** A response, and the project or conversation that it belongs to, if the claim does not name it. */
export interface Answer<B> extends ResponseSubject {
  response: StoredResponse<B>
}

interface AnswerOnceInput<D, W, B> {
  claim: Claim
  /**
   * Executes the request. Its one transaction also stores the response, so that a crash keeps either both or neither.
   * Returns what the callback of the transaction returned.
   */
  work(own: D): Promise<W>
  /** Must be pure, because it is called within the transaction. */
  answerOf(written: W): Answer<B>
  failure(error: unknown): StoredResponse
}

/**
 * @throws AppError ConflictError: `idempotency-in-progress` while another request owns the record,
 * `idempotency-unreadable` if the key of a sealed response is lost. UnprocessableEntityError for another body. Errors of
 * `work`.
 */
export async function answerOnce<D extends OnceDeps, W, B>(
  deps: D,
  input: AnswerOnceInput<D, W, B>,
): Promise<Answer<B> | { earlier: StoredResponse }> {
  const { id, requestHash } = input.claim
  const { claimsInWork } = deps.idempotency
  const inWork = claimsInWork.get(id)
  if (inWork !== undefined) throw inWork === requestHash ? inProgress() : refuse('idempotency-key-reused')
  // Sets the entry before the first await, because a record of this process without an entry counts as abandoned.
  claimsInWork.set(id, requestHash)
  try {
    const earlier = await findEarlier(deps, input.claim)
    return earlier ? { earlier } : await workOnce(deps, input)
  } finally {
    claimsInWork.delete(id)
  }
}

/** Returns an earlier request's stored response. Returns undefined if this request now owns the record. */
async function findEarlier(deps: OnceDeps, claim: Claim): Promise<StoredResponse | undefined> {
  const { idempotency } = deps.stores
  const ownerId = deps.runs.settings.instanceId
  for (;;) {
    if (await idempotency.claim(claim, ownerId)) return undefined
    const record = await idempotency.find(claim.id)
    // The record was released between the two statements.
    if (!record) continue
    const response = readResponse(deps, claim, record)
    if (response) return response
    if (record.ownerId !== ownerId && record.isOwnerAlive) throw inProgress()
    if (await idempotency.takeOver(claim.id, record.ownerId, ownerId)) return undefined
  }
}

function inProgress() {
  return refuse('idempotency-in-progress', { retryAfter: 1 })
}

async function workOnce<D extends OnceDeps, W, B>(
  deps: D,
  { claim, work, answerOf, failure }: AnswerOnceInput<D, W, B>,
): Promise<Answer<B>> {
  const ownerId = deps.runs.settings.instanceId
  const store = ({ idempotency }: Stores, { response, ...subject }: Answer<unknown>) =>
    idempotency.complete(claim.id, ownerId, { ...subject, text: writeResponse(deps, claim, response) })
  const keep = async (stores: Stores, answer: Answer<B>) => {
    // Another process has taken over the record. In a transaction, the error rolls back the work.
    if (!(await store(stores, answer))) throw inProgress()
  }
  let isKept = false
  const transaction: OnceDeps['transaction'] = async (write) => {
    const result = await deps.transaction(async (stores) => {
      const written = await write(stores)
      // `work` returns the same value.
      await keep(stores, answerOf(written as unknown as W))
      return written
    })
    isKept = true
    return result
  }
  try {
    const answer = answerOf(await work({ ...deps, transaction, singleWrite: transaction }))
    if (!isKept) await keep(deps.stores, answer)
    return answer
  } catch (error) {
    const response = failure(error)
    const { idempotency } = deps.stores
    // A failure here must not change the caller's response. The next request takes over an unfinished record.
    await (isStored(response) ? store(deps.stores, { response }) : idempotency.release(claim.id, ownerId)).catch(() =>
      deps.logger.warn('idempotency.answer-not-kept'),
    )
    throw error
  }
}

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
    const earlier = await findStarted(deps, claim)
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
    const other = await findStarted(deps, claim)
    if (other) return other
    throw error
  }
}

async function findStarted(deps: Needs<'stores' | 'secrets'>, claim: Claim): Promise<Earlier | undefined> {
  const record = await deps.stores.idempotency.find(claim.id)
  const response = record && readResponse(deps, claim, record)
  if (response) return { response }
  return record?.run ? { run: record.run } : undefined
}
