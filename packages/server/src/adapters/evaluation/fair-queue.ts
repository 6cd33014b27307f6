/** Schedules evaluations round-robin over workspaces, and within a workspace over its API keys. */
import type { EvaluationOwner } from '../../features/templates/template-engine.ts'

export interface FairLimits {
  perKey: number
  perWorkspace: number
}

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
