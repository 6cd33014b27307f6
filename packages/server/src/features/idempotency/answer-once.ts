import { refuse } from '../../shared/app-error.ts'
import type { Needs, Stores } from '../deps.ts'
import { isStored, readResponse, writeResponse } from './idempotency-key.ts'
import type { Claim, ResponseSubject, StoredResponse } from './ports.ts'

type TransactionDeps = Needs<'transaction' | 'liveCache' | 'externalLogs' | 'logger'>
type OnceDeps = Needs<'stores' | 'secrets' | 'runs' | 'idempotency'> & TransactionDeps

interface AnswerOnceInput {
  claim: Claim
  /** Returns the project or conversation that the response belongs to. Needed if the claim does not name it. */
  subjectOf?(): ResponseSubject
  /**
   * Executes the request. `workInTransaction` stores the returned response in the same transaction, so that a crash
   * keeps either both or neither. At most one transaction may succeed. Nothing is awaited after this transaction,
   * because it stays open until the response is stored.
   */
  work(own: TransactionDeps): Promise<StoredResponse>
  failure(error: unknown): StoredResponse
}

/**
 * @throws AppError ConflictError: `idempotency-in-progress` while another request owns the record,
 * `idempotency-unreadable` if the key of a sealed response is lost. UnprocessableEntityError for another body. Errors of
 * `work`.
 */
export async function answerOnce(deps: OnceDeps, input: AnswerOnceInput): Promise<StoredResponse> {
  const { id, requestHash } = input.claim
  const { claimsInWork } = deps.idempotency
  const inWork = claimsInWork.get(id)
  if (inWork !== undefined) throw inWork === requestHash ? inProgress() : refuse('idempotency-key-reused')
  // Sets the entry before the first await, because a record of this process without an entry counts as abandoned.
  claimsInWork.set(id, requestHash)
  try {
    return (await findEarlier(deps, input.claim)) ?? (await workOnce(deps, input))
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

async function workOnce(deps: OnceDeps, { claim, work, failure, subjectOf }: AnswerOnceInput): Promise<StoredResponse> {
  const ownerId = deps.runs.settings.instanceId
  const store = ({ idempotency }: Pick<Stores, 'idempotency'>, response: StoredResponse, subject?: ResponseSubject) =>
    idempotency.complete(claim.id, ownerId, { ...subject, text: writeResponse(deps, claim, response) })
  try {
    return await workInTransaction(deps, work, async (stores, response) => {
      // Another process has taken over the record. The error rolls the transaction back.
      if (!(await store(stores, response, subjectOf?.()))) throw inProgress()
    })
  } catch (error) {
    const response = failure(error)
    const { idempotency } = deps.stores
    // A failure here must not change the caller's response. The next request takes over an unfinished record.
    await (isStored(response) ? store(deps.stores, response) : idempotency.release(claim.id, ownerId)).catch(() =>
      deps.logger.warn('idempotency.answer-not-kept'),
    )
    throw error
  }
}

/** Commits the writes of `work` together with its response. If `work` or `store` throws, nothing is committed. */
async function workInTransaction(
  deps: OnceDeps,
  work: AnswerOnceInput['work'],
  store: (stores: Stores, response: StoredResponse) => Promise<void>,
): Promise<StoredResponse> {
  const held: { commit?: Promise<void> } = {}
  const lines: (() => void)[] = []
  const scopes = new Set<string>()
  const transaction: TransactionDeps['transaction'] = (write) =>
    new Promise((handOut, refuseWrite) => {
      if (held.commit) throw new Error('A response is stored with one transaction')
      let isHandedOut = false
      held.commit = deps.transaction(async (stores) => {
        handOut(await write(stores))
        isHandedOut = true
        await store(stores, await responding)
      })
      held.commit.catch((reason: unknown) => {
        if (!isHandedOut) delete held.commit
        refuseWrite(reason)
      })
    })
  // `work` logs and drops caches after its transaction, so both are deferred until the real commit.
  const responding = work({
    transaction,
    liveCache: { ...deps.liveCache, drop: async (scope) => void scopes.add(scope) },
    externalLogs: {
      create: (conversation, entry) => transaction((stores) => stores.externalLogs.create(conversation, entry)),
    },
    logger: { ...deps.logger, info: (event, fields) => void lines.push(() => deps.logger.info(event, fields)) },
  })
  try {
    const response = await responding
    await (held.commit ?? store(deps.stores, response))
    for (const line of lines) line()
    return response
  } catch (error) {
    await held.commit?.catch(() => undefined)
    throw error
  } finally {
    // Drops the caches after a failure too: if the connection broke during the commit, the outcome is unknown.
    for (const scope of scopes) await deps.liveCache.drop(scope)
  }
}
