/** Does the work of a request once, however often it is sent; repetitions get the answer of the first. */
import type { Needs, Stores } from '../deps.ts'
import { answerInTransaction, type TransactionDeps } from './answer-in-transaction.ts'
import { type AnswerSubject, type Claim, inProgress, otherRequest } from './claim.ts'
import { isKept, readAnswer, writeAnswer } from './kept-answer.ts'
import type { KeptAnswer } from './ports.ts'

type OnceDeps = Needs<'stores' | 'secrets' | 'runSettings' | 'claimsInWork'> & TransactionDeps

export interface AnswerOnceInput {
  claim: Claim
  /** The answer holds a secret. */
  isSecret: boolean
  /** What the request created, if it is not part of the claim's subject. */
  subjectOf?(): AnswerSubject
  /** Its answer is kept in its transaction, see `answerInTransaction`. */
  work(own: TransactionDeps): Promise<KeptAnswer>
  /** The answer to what `work` throws. */
  failure(error: unknown): KeptAnswer
}

/**
 * @throws AppError ConflictError `in_progress` while the first one works, `unreadable` for an answer whose seal nobody can
 * open any more; UnprocessableEntityError for another body; what `work` throws.
 */
export async function answerOnce(
  deps: OnceDeps,
  input: AnswerOnceInput,
): Promise<{ answer: KeptAnswer; isReplayed: boolean }> {
  const { claim } = input
  const inWork = deps.claimsInWork.get(claim.id)
  if (inWork !== undefined) throw inWork === claim.requestHash ? inProgress() : otherRequest()
  // Before anything is awaited: what stands in the table under this process and not here is nobody's any more.
  deps.claimsInWork.set(claim.id, claim.requestHash)
  try {
    const earlier = await findEarlier(deps, input)
    if (earlier) return { answer: earlier, isReplayed: true }
    return { answer: await workOnce(deps, input), isReplayed: false }
  } finally {
    deps.claimsInWork.delete(claim.id)
  }
}

/** The answer of an earlier request; undefined once the claim is ours. */
async function findEarlier(deps: OnceDeps, { claim, isSecret }: AnswerOnceInput): Promise<KeptAnswer | undefined> {
  const { idempotency } = deps.stores
  const ownerId = deps.runSettings.instanceId
  for (;;) {
    if (await idempotency.claim(claim, ownerId)) return undefined
    const record = await idempotency.find(claim.id)
    // Released between the two statements.
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
  const ownerId = deps.runSettings.instanceId
  const keep = ({ idempotency }: Pick<Stores, 'idempotency'>, answer: KeptAnswer, subject: AnswerSubject) => {
    const text = writeAnswer(deps, { id, isSecret: input.isSecret }, answer)
    return idempotency.complete(id, ownerId, { ...subject, text })
  }
  try {
    return await answerInTransaction(deps, input.work, async (stores, answer) => {
      // Another process took the claim for that of a dead one: what was written here must not stay.
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

// The caller gets its answer all the same. A record that stays unfinished is taken over by the next request.
async function afterwards(deps: OnceDeps, finish: () => Promise<unknown>): Promise<void> {
  try {
    await finish()
  } catch {
    deps.log.warn('idempotency.answer-not-kept')
  }
}
