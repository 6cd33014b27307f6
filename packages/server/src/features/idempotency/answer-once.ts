/** Does the work of a request once, however often it is sent; repetitions get the answer of the first. */
import type { Needs, Stores } from '../deps.ts'
import {
  type AnswerSubject,
  type Claim,
  inProgress,
  isKept,
  otherRequest,
  readAnswer,
  writeAnswer,
} from './idempotency-key.ts'
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

export type TransactionDeps = Needs<'transaction' | 'liveCache' | 'logs' | 'log'>

/**
 * @param work writes in one transaction at most, and awaits neither database nor anybody else after it. One that it left
 * by throwing counts for nothing.
 * @param keep stores the answer.
 * @throws what `work` throws: then nothing was written.
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
  // A failure before the transaction has nobody that waits for it here.
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
    // After a failure too: a connection that broke during the commit does not say whether it happened.
    dropScopes()
  }
}

/** What use cases do after their commit has to wait for the real one. */
function heldBack(deps: TransactionDeps, transaction: TransactionDeps['transaction']) {
  const lines: (() => void)[] = []
  const scopes = new Set<string>()
  const own: TransactionDeps = {
    transaction,
    liveCache: { ...deps.liveCache, drop: (scope) => void scopes.add(scope) },
    logs: { create: (conversation, entry) => transaction((stores) => stores.logs.create(conversation, entry)) },
    log: { ...deps.log, info: (event, fields) => void lines.push(() => deps.log.info(event, fields)) },
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
