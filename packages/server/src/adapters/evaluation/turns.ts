/** Begins work in the order of a fair queue. */
import { EvaluationCanceled, type EvaluationOwner } from '../../features/templates/template-engine.ts'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { afterListening } from '../../shared/clock.ts'
import { createFairQueue, type FairLimits } from './fair-queue.ts'

interface Turn extends EvaluationOwner {
  begin(): Promise<unknown>
  fail(error: AppError): void
}

export function tooMany(limitOf: string): AppError {
  return refuse('too-many-evaluations', { limitOf, retryAfter: 1 })
}

/** @param most the number of turns at once, of which each workspace has one. */
export function createTurns(limits: FairLimits, most = Number.POSITIVE_INFINITY) {
  const queue = createFairQueue<Turn>(limits)
  let begun = 0
  const beginNext = (): void => {
    const next = begun < most ? queue.take() : undefined
    if (!next) return
    begun += 1
    void complete(next)
    beginNext()
  }
  const complete = async (turn: Turn): Promise<void> => {
    await turn.begin().catch(() => undefined)
    queue.release(turn)
    begun -= 1
    beginNext()
  }
  return {
    /**
     * @param waitMs the longest wait for the turn.
     * @throws AppError ServiceUnavailableError if a limit is reached or the queue closes; EvaluationCanceled if the caller
     * disconnects before its turn; errors of `work`.
     */
    take<Result>(owner: EvaluationOwner, work: () => Promise<Result>, waitMs?: number): Promise<Result> {
      const { signal } = owner
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(new EvaluationCanceled())
        let stopClock: (() => void) | undefined
        const stopWaiting = (): void => {
          stopClock?.()
          signal?.removeEventListener('abort', cancel)
        }
        const turn: Turn = {
          ...owner,
          begin() {
            stopWaiting()
            const working = work()
            resolve(working)
            return working
          },
          fail(error) {
            stopWaiting()
            reject(error)
          },
        }
        const leave = (error: AppError): void => {
          if (queue.drop(turn)) turn.fail(error)
        }
        const cancel = (): void => leave(new EvaluationCanceled())
        const limitOf = queue.add(turn)
        if (limitOf) return reject(tooMany(limitOf))
        signal?.addEventListener('abort', cancel, { once: true })
        // A late tick of the clock counts as one timeout.
        if (waitMs) stopClock = afterListening(waitMs, () => leave(tooMany('server')), waitMs / 10)
        beginNext()
      })
    },
    waiting: queue.waiting,
    close(error: AppError): void {
      for (const turn of queue.dropAll()) turn.fail(error)
    },
  }
}
