import { EvaluationCanceled, type EvaluationOwner } from '../../features/templates/template-engine.ts'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { afterListening } from '../../shared/clock.ts'
import { createFairQueue, type FairLimits } from './fair-queue.ts'
import type { Job } from './jobs.ts'
import { createThread, type EvaluationThread, type ThreadOutcome } from './thread.ts'

export interface ThreadQueueOptions {
  threadFile: string
  /** The CPU time of one job in the evaluation thread. */
  timeoutMs: number
  maxPerKey: number
  maxPerWorkspace: number
  metrics: EvaluationMetrics
}

export interface EvaluationMetrics {
  /** Called when an evaluation has ended in any way, except before its turn. */
  evaluationEnded(evaluation: { operation: string; place: 'inline' | 'thread'; seconds: number }): void
  evaluationWaited(seconds: number): void
  workerDied(reason: string): void
}

export interface ThreadQueue {
  /** @throws AppError ServiceUnavailableError if too much waits or the server stops; EvaluationCanceled. */
  run(job: Job, owner: EvaluationOwner): Promise<ThreadOutcome>
  waiting(): number
  close(): Promise<void>
}

/** The longest wait for a turn. */
const maxWaitMs = 10_000

interface Queue {
  options: ThreadQueueOptions
  turns: ReturnType<typeof createTurns>
  thread: EvaluationThread
  isClosed: boolean
}

/** Gives the evaluation thread one job at a time: workspaces take turns, and so do the keys of each. */
export function createThreadQueue(options: ThreadQueueOptions): ThreadQueue {
  const { threadFile: file, timeoutMs, maxPerKey: perKey, maxPerWorkspace: perWorkspace } = options
  const queue: Queue = {
    options,
    turns: createTurns({ perKey, perWorkspace }, 1),
    thread: createThread({ file, timeoutMs }),
    isClosed: false,
  }
  return {
    run: (job, owner) => run(queue, job, owner),
    waiting: queue.turns.waiting,
    async close() {
      queue.isClosed = true
      queue.turns.close(refuse('server-stopping'))
      await queue.thread.close()
    },
  }
}

function assertOpen({ isClosed }: Queue): void {
  if (isClosed) throw refuse('server-stopping')
}

async function run(queue: Queue, job: Job, owner: EvaluationOwner): Promise<ThreadOutcome> {
  for (;;) {
    assertOpen(queue)
    const outcome = await runInTurn(queue, job, owner)
    assertOpen(queue)
    if (owner.signal?.aborted) throw new EvaluationCanceled()
    if (outcome.kind !== 'starved') return outcome
    // The answers of a started run are paid for, so only the run's own limits end it.
    if (!owner.isRun || !owner.signal) throw tooMany('server')
  }
}

function runInTurn(queue: Queue, job: Job, owner: EvaluationOwner): Promise<ThreadOutcome> {
  const { metrics } = queue.options
  const queuedAt = performance.now()
  const work = async (): Promise<ThreadOutcome> => {
    const begunAt = performance.now()
    metrics.evaluationWaited((begunAt - queuedAt) / 1000)
    const outcome = await queue.thread.run(job)
    const seconds = (performance.now() - begunAt) / 1000
    metrics.evaluationEnded({ operation: job.operation, place: 'thread', seconds })
    return outcome
  }
  return queue.turns.take(owner, work, owner.isRun ? undefined : maxWaitMs)
}

interface Turn extends EvaluationOwner {
  begin(): Promise<unknown>
  fail(error: AppError): void
}

function tooMany(limitOf: string): AppError {
  return refuse('too-many-evaluations', { limitOf, retryAfter: 1 })
}

/**
 * @param most the number of turns at once, of which each workspace has one.
 * @param refusalOf the error for a caller that reached a limit.
 */
export function createTurns(limits: FairLimits, most = Number.POSITIVE_INFINITY, refusalOf = tooMany) {
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
        if (limitOf) return reject(refusalOf(limitOf))
        signal?.addEventListener('abort', cancel, { once: true })
        // A late tick of the clock counts as one timeout.
        if (waitMs) stopClock = afterListening(waitMs, () => leave(refusalOf('server')), waitMs / 10)
        beginNext()
      })
    },
    waiting: queue.waiting,
    close(error: AppError): void {
      for (const turn of queue.dropAll()) turn.fail(error)
    },
  }
}

/** More than several open pages of the console ask at once. A person's pages share a key. */
const statsLimits: FairLimits = { perKey: 50, perWorkspace: 200 }

/** Answers one question about stats at a time. */
export function createStatsTurns() {
  return createTurns(statsLimits, 1, (limitOf) => refuse('too-many-stats', { limitOf, retryAfter: 1 }))
}
