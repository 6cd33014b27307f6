/** Executes a request once per Idempotency-Key. Repeated requests get the stored response. */

import type { Needs, Stores } from '../deps.ts'
import { inProgress, isKept, otherRequest, readAnswer, writeAnswer } from './idempotency-key.ts'
import type { AnswerSubject, Claim, KeptAnswer } from './ports.ts'

type OnceDeps = Needs<'stores' | 'secrets' | 'runs' | 'idempotency'> & TransactionDeps

export interface AnswerOnceInput {
  claim: Claim
  /** True if the response contains a secret, which is then sealed. */
  isSecret: boolean
  /** Returns the created object, if it differs from the claim's subject. */
  subjectOf?(): AnswerSubject
  /** Stores its response in its own transaction; see `answerInTransaction`. */
  work(own: TransactionDeps): Promise<KeptAnswer>
  failure(error: unknown): KeptAnswer
}

/**
 * @throws AppError ConflictError: `in_progress` while the first request works, `unreadable` if the key of a sealed
 * response is lost. UnprocessableEntityError for another body. Errors of `work`.
 */
export async function answerOnce(deps: OnceDeps, input: AnswerOnceInput): Promise<KeptAnswer> {
  const { claim } = input
  const inWork = deps.idempotency.claimsInWork.get(claim.id)
  if (inWork !== undefined) throw inWork === claim.requestHash ? inProgress() : otherRequest()
  // Set before the first await. A record of this process that is missing from the map counts as abandoned.
  deps.idempotency.claimsInWork.set(claim.id, claim.requestHash)
  try {
    return (await findEarlier(deps, input)) ?? (await workOnce(deps, input))
  } finally {
    deps.idempotency.claimsInWork.delete(claim.id)
  }
}

/** Returns an earlier request's stored response. Returns undefined if this request now owns the record. */
async function findEarlier(deps: OnceDeps, { claim, isSecret }: AnswerOnceInput): Promise<KeptAnswer | undefined> {
  const { idempotency } = deps.stores
  const ownerId = deps.runs.settings.instanceId
  for (;;) {
    if (await idempotency.claim(claim, ownerId)) return undefined
    const record = await idempotency.find(claim.id)
    // The record was released between the two statements.
    if (!record) continue
    if (record.requestHash !== claim.requestHash) throw otherRequest()
    if (record.answer !== null) return readAnswer(deps, { id: claim.id, isSecret }, record.answer)
    if (record.ownerId !== ownerId && record.isOwnerAlive) throw inProgress()
    if (await idempotency.takeOver(claim.id, record.ownerId, ownerId)) return undefined
  }
}

async function workOnce(deps: OnceDeps, input: AnswerOnceInput): Promise<KeptAnswer> {
  const { id } = input.claim
  const subjectOf = input.subjectOf ?? (() => ({}))
  const ownerId = deps.runs.settings.instanceId
  const keep = ({ idempotency }: Pick<Stores, 'idempotency'>, answer: KeptAnswer, subject: AnswerSubject) => {
    const text = writeAnswer(deps, { id, isSecret: input.isSecret }, answer)
    return idempotency.complete(id, ownerId, { ...subject, text })
  }
  try {
    return await answerInTransaction(deps, input.work, async (stores, answer) => {
      // Roll back, because another process has taken over the record.
      if (!(await keep(stores, answer, subjectOf()))) throw inProgress()
    })
  } catch (error) {
    const answer = input.failure(error)
    await afterwards(deps, () =>
      isKept(answer) ? keep(deps.stores, answer, {}) : deps.stores.idempotency.release(id, ownerId),
    )
    throw error
  }
}

// A failure here must not change the caller's response. The next request takes over an unfinished record.
async function afterwards(deps: OnceDeps, finish: () => Promise<unknown>): Promise<void> {
  try {
    await finish()
  } catch {
    deps.logger.warn('idempotency.answer-not-kept')
  }
}

export type TransactionDeps = Needs<'transaction' | 'liveCache' | 'externalLogs' | 'logger'>

/**
 * Stores the response in the transaction of the work, so that a crash keeps either both or neither. The transaction
 * stays open after its last statement until the response exists.
 * @param work uses at most one transaction and awaits nothing after it. A transaction that failed by throwing does not
 * count.
 * @throws errors of `work`; then nothing was written.
 */
async function answerInTransaction<T>(
  deps: Needs<'stores'> & TransactionDeps,
  work: (own: TransactionDeps) => Promise<T>,
  keep: (stores: Stores, answer: T) => Promise<void>,
): Promise<T> {
  let handOver: (answer: T) => void = () => {}
  let giveUp: (reason: unknown) => void = () => {}
  const answered = new Promise<T>((resolve, reject) => {
    handOver = resolve
    giveUp = reject
  })
  // Prevents an unhandled rejection if it fails before anything awaits it.
  answered.catch(() => undefined)
  const held: { commit?: Promise<void> } = {}
  const transaction: TransactionDeps['transaction'] = (write) =>
    new Promise((handOut, refuse) => {
      if (held.commit) throw new Error('An answer is kept with one transaction')
      let isHandedOut = false
      held.commit = deps.transaction(async (stores) => {
        handOut(await write(stores))
        isHandedOut = true
        await keep(stores, await answered)
      })
      held.commit.catch((reason: unknown) => {
        if (!isHandedOut) delete held.commit
        refuse(reason)
      })
    })
  const { own, tell, dropScopes } = heldBack(deps, transaction)
  try {
    const answer = await work(own)
    handOver(answer)
    await (held.commit ?? keep(deps.stores, answer))
    tell()
    return answer
  } catch (error) {
    giveUp(error)
    await held.commit?.catch(() => undefined)
    throw error
  } finally {
    // Drop the caches after a failure too: if the connection broke during the commit, the outcome is unknown.
    dropScopes()
  }
}

/** Delays log lines and cache drops until the real commit. Use cases emit them after their own transaction. */
function heldBack(deps: TransactionDeps, transaction: TransactionDeps['transaction']) {
  const lines: (() => void)[] = []
  const scopes = new Set<string>()
  const own: TransactionDeps = {
    transaction,
    liveCache: { ...deps.liveCache, drop: (scope) => void scopes.add(scope) },
    externalLogs: {
      create: (conversation, entry) => transaction((stores) => stores.externalLogs.create(conversation, entry)),
    },
    logger: { ...deps.logger, info: (event, fields) => void lines.push(() => deps.logger.info(event, fields)) },
  }
  return {
    own,
    tell() {
      for (const line of lines) line()
    },
    dropScopes() {
      for (const scope of scopes) deps.liveCache.drop(scope)
    },
  }
}
