/**
 * Keeps an answer in the transaction of the work that it tells of: after a crash there is either both or neither.
 * The transaction of the use case is held open after its last statement, until the answer is made of what it returned.
 */
import type { Needs, Stores } from '../deps.ts'

export type TransactionDeps = Needs<'transaction' | 'liveCache' | 'logs' | 'log'>

/**
 * @param work writes in one transaction at most, and awaits neither database nor anybody else after it. One that it left
 * by throwing counts for nothing.
 * @param keep stores the answer.
 * @throws what `work` throws: then nothing was written.
 */
export async function answerInTransaction<T>(
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
