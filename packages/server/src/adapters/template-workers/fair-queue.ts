/** Schedules evaluations round-robin over workspaces, and within a workspace over its API keys. */
import {
  EvaluationCanceled,
  type EvaluationOwner,
  type TemplateEngine,
} from '../../features/templates/template-engine.ts'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { afterListening } from '../../shared/clock.ts'

export interface QueuedJob extends EvaluationOwner {
  /** True if the last evaluation of this text stayed within its limits. */
  isProven: boolean
}

export interface FairLimits {
  /**
   * Maximum concurrent evaluations per workspace. While several workspaces are active, the limit is one lower, but at
   * least one.
   */
  running: number
  perKey: number
  perWorkspace: number
}

export type FairQueue<J extends QueuedJob> = ReturnType<typeof createFairQueue<J>>

interface KeyLane<J> {
  open: number
  jobs: J[]
}

interface WorkspaceLane<J> {
  open: number
  running: number
  runningNew: number
  /** In turn order. The next key is first. */
  keys: Map<number | undefined, KeyLane<J>>
}

const ACTIVE_MS = 10_000

export function createFairQueue<J extends QueuedJob>(limits: FairLimits, now = () => performance.now()) {
  // In turn order. The next workspace is first.
  const lanes = new Map<number, WorkspaceLane<J>>()
  // Time of each active workspace's last request, oldest first.
  const active = new Map<number, number>()

  // Leaves one core free for other active workspaces. The spare process alone cannot help while every core is busy.
  const mostRunning = (): number => {
    for (const [workspaceId, at] of active) {
      if (at > now() - ACTIVE_MS) break
      active.delete(workspaceId)
    }
    return active.size > 1 ? Math.max(1, limits.running - 1) : limits.running
  }

  const laneOf = (job: J): { lane: WorkspaceLane<J>; key: KeyLane<J> } => {
    const lane = lanes.get(job.workspaceId) ?? { open: 0, running: 0, runningNew: 0, keys: new Map() }
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
      moveToEnd(active, job.workspaceId, now())
      lanes.set(job.workspaceId, lane)
      lane.keys.set(job.apiKeyId, key)
      lane.open += 1
      key.open += 1
      key.jobs.push(job)
      return undefined
    },
    /** Returns the next runnable job, which counts as open and running until `release`. */
    take(): J | undefined {
      const most = mostRunning()
      for (const [workspaceId, lane] of lanes) {
        const job = takeFrom(lane, most)
        if (!job) continue
        lane.running += 1
        if (!job.isProven) lane.runningNew += 1
        moveToEnd(lanes, workspaceId, lane)
        return job
      }
      return undefined
    },
    release(job: J): void {
      const { lane } = laneOf(job)
      lane.running -= 1
      if (!job.isProven) lane.runningNew -= 1
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
    waiting: () => [...lanes.values()].reduce((waiting, { open, running }) => waiting + open - running, 0),
    dropAll(): J[] {
      const queued = [...lanes.values()].flatMap((lane) =>
        [...lane.keys.values()].flatMap(({ jobs }) => jobs.splice(0)),
      )
      for (const job of queued) close(job)
      return queued
    },
  }
}

/** A new text may use its entire time limit. If `mostRunning` exceeds one, one place is therefore for proven texts. */
function takeFrom<J extends QueuedJob>(lane: WorkspaceLane<J>, mostRunning: number): J | undefined {
  if (lane.running >= mostRunning) return undefined
  if (mostRunning === 1) return takeFirst(lane, () => true)
  const proven = (job: J) => job.isProven
  if (lane.runningNew >= mostRunning - 1) return takeFirst(lane, proven)
  return takeFirst(lane, (job) => !job.isProven) ?? takeFirst(lane, proven)
}

function takeFirst<J>(lane: WorkspaceLane<J>, isWanted: (job: J) => boolean): J | undefined {
  for (const [apiKeyId, key] of lane.keys) {
    const index = key.jobs.findIndex(isWanted)
    if (index === -1) continue
    moveToEnd(lane.keys, apiKeyId, key)
    return key.jobs.splice(index, 1)[0]
  }
  return undefined
}

function moveToEnd<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key)
  map.set(key, value)
}

export interface Turn<Seat, Result> extends QueuedJob {
  begin(seat: Seat): Promise<Result>
  fail(error: AppError): void
}

export function tooMany(limitOf: string): AppError {
  return refuse('too-many-evaluations', { limitOf, retryAfter: 1 })
}

/**
 * @throws AppError ServiceUnavailableError if a limit is reached or the pool closes; EvaluationCanceled if the caller
 * disconnects before its turn; errors of `work`.
 */
export function waitForTurn<Seat, Result>(
  queue: FairQueue<Turn<Seat, Result>>,
  job: QueuedJob,
  work: (seat: Seat) => Promise<Result>,
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
    const turn: Turn<Seat, Result> = {
      ...job,
      begin(seat) {
        stopWaiting()
        const working = work(seat)
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
    if (timeoutMs) stopClock = afterListening(timeoutMs * 10, () => leave(tooMany('server')), timeoutMs)
  })
}

export function createTurns(limits: Omit<FairLimits, 'running'>): TemplateEngine['inTurn'] {
  const queue = createFairQueue<Turn<void, unknown>>({ ...limits, running: 1 })
  const beginNext = (): void => {
    for (let next = queue.take(); next; next = queue.take()) void complete(next)
  }
  const complete = async (turn: Turn<void, unknown>): Promise<void> => {
    await turn.begin().catch(() => undefined)
    queue.release(turn)
    beginNext()
  }
  return <T>(owner: EvaluationOwner, work: () => Promise<T>) => {
    const result = waitForTurn(queue, { ...owner, isProven: true, isRun: false }, work)
    beginNext()
    return result as Promise<T>
  }
}
