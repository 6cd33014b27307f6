/**
 * Texts are compiled and merged outside of the transaction that writes or publishes them. `untilUnchanged` repeats both if
 * another write comes between.
 */
import { refuse } from '../../../shared/app-error.ts'

/** Rolls back a transaction that would write or publish older texts than those that are there now. */
export class ChangedMeanwhile extends Error {}

// Only writes of others cause another attempt. Scans are cached.
const maxAttempts = 20

/** @throws AppError ConflictError if other writes come between each time. */
export async function untilUnchanged<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 0; count < maxAttempts; count += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error
    }
  }
  throw refuse('draft-kept-changing')
}
