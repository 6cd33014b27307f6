import { EvaluationCanceled, type EvaluationOwner } from '../../../features/templates/template-engine.ts'
import { createFairQueue, type FairLimits, type QueuedJob } from './fair-queue.ts'

interface Waiting extends QueuedJob {
  begin(): void
}

/** Runs one piece of work of each workspace at a time; the API keys of a workspace take turns. */
export type TakeTurn = <T>(owner: EvaluationOwner, work: () => Promise<T>) => Promise<T>

/** @param refuse makes the error for a caller over its limit. */
export function createTurns(limits: Omit<FairLimits, 'running'>, refuse: (limitOf: string) => Error): TakeTurn {
  const queue = createFairQueue<Waiting>({ ...limits, running: 1 })
  const beginNext = (): void => {
    for (let next = queue.take(); next; next = queue.take()) next.begin()
  }
  const turnOf = ({ workspaceId, apiKeyId, signal }: EvaluationOwner): Promise<Waiting> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        if (queue.drop(waiting)) reject(new EvaluationCanceled())
      }
      const waiting: Waiting = {
        ...{ workspaceId, apiKeyId, isProven: true, isRun: false },
        begin() {
          signal?.removeEventListener('abort', leave)
          resolve(waiting)
        },
      }
      if (signal?.aborted) return reject(new EvaluationCanceled())
      const limitOf = queue.add(waiting)
      if (limitOf) return reject(refuse(limitOf))
      signal?.addEventListener('abort', leave, { once: true })
      beginNext()
    })
  return async (owner, work) => {
    const turn = await turnOf(owner)
    try {
      return await work()
    } finally {
      queue.release(turn)
      beginNext()
    }
  }
}
