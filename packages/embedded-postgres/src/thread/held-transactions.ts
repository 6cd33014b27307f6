import type { PGlite, Transaction } from '@electric-sql/pglite'

interface Held {
  handle: Transaction
  end(): void
  /** Settles when the transaction ends. Rejects if COMMIT failed or rolled back. */
  outcome: Promise<unknown>
}

/** Transactions controlled by messages. One owns the session, and the others wait in `begin`. */
export interface HeldTransactions {
  begin(): Promise<number>
  handleOf(id: number): Transaction
  commit(id: number): Promise<void>
  rollback(id: number): Promise<void>
}

export function holdTransactions(pglite: PGlite): HeldTransactions {
  const held = new Map<number, Held>()
  let begun = 0

  const heldOf = (id: number): Held => {
    const found = held.get(id)
    if (!found) throw new Error('The transaction has ended')
    return found
  }
  const take = (id: number): Held => {
    const found = heldOf(id)
    held.delete(id)
    return found
  }

  return {
    begin: () =>
      new Promise((resolve, reject) => {
        const outcome = pglite.transaction(
          (handle) =>
            new Promise<void>((end) => {
              begun += 1
              held.set(begun, { handle, end, outcome })
              resolve(begun)
            }),
        )
        // Rejects `begin`. Once `begin` has resolved, `commit` or `rollback` reports the failure instead.
        outcome.catch(reject)
      }),
    handleOf: (id) => heldOf(id).handle,
    async commit(id) {
      const { end, outcome } = take(id)
      end()
      await outcome
    },
    async rollback(id) {
      const { handle, end, outcome } = take(id)
      await handle.rollback().finally(end)
      await outcome
    },
  }
}
