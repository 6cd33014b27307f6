import { EvaluationCanceled, type EvaluationOwner } from '../../features/templates/template-engine.ts'
import { refuse } from '../../shared/app-error.ts'
import type { Job } from './jobs.ts'
import { createThread, type EvaluationThread, type ThreadOutcome } from './thread.ts'
import { createTurns, tooMany } from './turns.ts'

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
const MAX_WAIT_MS = 10_000

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
  return queue.turns.take(owner, work, owner.isRun ? undefined : MAX_WAIT_MS)
}
