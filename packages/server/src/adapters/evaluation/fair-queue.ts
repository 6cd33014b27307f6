/** Schedules evaluations round-robin over workspaces, and within a workspace over its API keys. */
import {
  EvaluationCanceled,
  type EvaluationOwner,
  type TemplateEngine,
} from '../../features/templates/template-engine.ts'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { afterListening } from '../../shared/clock.ts'

export interface FairLimits {
  perKey: number
  perWorkspace: number
}

export type FairQueue<J extends EvaluationOwner> = ReturnType<typeof createFairQueue<J>>

interface KeyLane<J> {
  open: number
  jobs: J[]
}

interface WorkspaceLane<J> {
  open: number
  isRunning: boolean
  /** In turn order. The next key is first. */
  keys: Map<number | undefined, KeyLane<J>>
}

/** Each workspace has at most one running job. */
export function createFairQueue<J extends EvaluationOwner>(limits: FairLimits) {
  // In turn order. The next workspace is first.
  const lanes = new Map<number, WorkspaceLane<J>>()

  const laneOf = (job: J): { lane: WorkspaceLane<J>; key: KeyLane<J> } => {
    const lane = lanes.get(job.workspaceId) ?? { open: 0, isRunning: false, keys: new Map() }
    const key = lane.keys.get(job.apiKeyId) ?? { open: 0, jobs: [] }
    return { lane, key }
  }
  const close = (job: J): void => {
    const { lane, key } = laneOf(job)
    lane.open -= 1
    key.open -= 1
    if (key.open === 0) lane.keys.delete(job.apiKeyId)
    if (lane.open === 0) lanes.delete(job.workspaceId)
  }
  return {
    /** Queues the job and returns undefined, or returns the limit that was reached. */
    add(job: J): 'API key' | 'workspace' | undefined {
      const { lane, key } = laneOf(job)
      if (!job.isRun && key.open >= limits.perKey) return 'API key'
      if (!job.isRun && lane.open >= limits.perWorkspace) return 'workspace'
      lanes.set(job.workspaceId, lane)
      lane.keys.set(job.apiKeyId, key)
      lane.open += 1
      key.open += 1
      key.jobs.push(job)
      return undefined
    },
    /** Returns the next runnable job, which counts as open and running until `release`. */
    take(): J | undefined {
      for (const [workspaceId, lane] of lanes) {
        const job = lane.isRunning ? undefined : takeFirst(lane)
        if (!job) continue
        lane.isRunning = true
        moveToEnd(lanes, workspaceId, lane)
        return job
      }
      return undefined
    },
    release(job: J): void {
      laneOf(job).lane.isRunning = false
      close(job)
    },
    /** Removes a queued job. Returns false for any other job: a taken job counts until `release`. */
    drop(job: J): boolean {
      const { jobs } = laneOf(job).key
      const index = jobs.indexOf(job)
      if (index === -1) return false
      jobs.splice(index, 1)
      close(job)
      return true
    },
    waiting: () => [...lanes.values()].reduce((waiting, { open, isRunning }) => waiting + open - Number(isRunning), 0),
    dropAll(): J[] {
      const queued = [...lanes.values()].flatMap((lane) =>
        [...lane.keys.values()].flatMap(({ jobs }) => jobs.splice(0)),
      )
      for (const job of queued) close(job)
      return queued
    },
  }
}

function takeFirst<J>(lane: WorkspaceLane<J>): J | undefined {
  for (const [apiKeyId, key] of lane.keys) {
    const job = key.jobs.shift()
    if (!job) continue
    moveToEnd(lane.keys, apiKeyId, key)
    return job
  }
  return undefined
}

function moveToEnd<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key)
  map.set(key, value)
}

export interface Turn extends EvaluationOwner {
  begin(): Promise<unknown>
  fail(error: AppError): void
}

export function tooMany(limitOf: string): AppError {
  return refuse('too-many-evaluations', { limitOf, retryAfter: 1 })
}

/**
 * @throws AppError ServiceUnavailableError if a limit is reached or the pool closes; EvaluationCanceled if the caller
 * disconnects before its turn; errors of `work`.
 */
export function waitForTurn<Result>(
  queue: FairQueue<Turn>,
  job: EvaluationOwner,
  work: () => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> {
  const { signal } = job
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new EvaluationCanceled())
    let stopClock: (() => void) | undefined
    const stopWaiting = (): void => {
      stopClock?.()
      signal?.removeEventListener('abort', cancel)
    }
    const turn: Turn = {
      ...job,
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
    if (timeoutMs) stopClock = afterListening(timeoutMs, () => leave(tooMany('server')), timeoutMs / 10)
  })
}

export function createTurns(limits: FairLimits): TemplateEngine['inTurn'] {
  const queue = createFairQueue<Turn>(limits)
  const beginNext = (): void => {
    for (let next = queue.take(); next; next = queue.take()) void complete(next)
  }
  const complete = async (turn: Turn): Promise<void> => {
    await turn.begin().catch(() => undefined)
    queue.release(turn)
    beginNext()
  }
  return <T>(owner: EvaluationOwner, work: () => Promise<T>) => {
    const result = waitForTurn(queue, { ...owner, isRun: false }, work)
    beginNext()
    return result
  }
}
