/** Queues the runs of one process, first in, first out. A run that is not yet ready is skipped. */
import type { QueuedRun, RunQueue } from '../../features/runs/ports.ts'

interface Job extends QueuedRun {
  isReady: boolean
}

export function createRunQueue(options: { workers: number; maxQueuedPerKey: number }): RunQueue {
  const waiting = new Map<string, Job>()
  const started = new Set<string>()
  const perKey = new Map<number, number>()
  let start: ((runUuid: string) => Promise<void>) | undefined

  const enter = (job: Job) => {
    waiting.set(job.runUuid, job)
    perKey.set(job.apiKeyId, (perKey.get(job.apiKeyId) ?? 0) + 1)
  }
  const leave = (runUuid: string) => {
    const job = waiting.get(runUuid)
    if (!job) return
    waiting.delete(runUuid)
    const left = (perKey.get(job.apiKeyId) ?? 0) - 1
    if (left > 0) perKey.set(job.apiKeyId, left)
    else perKey.delete(job.apiKeyId)
  }
  const handOut = () => {
    while (start && started.size < options.workers) {
      const job = firstReady(waiting)
      if (!job) return
      leave(job.runUuid)
      started.add(job.runUuid)
      void start(job.runUuid).finally(() => {
        started.delete(job.runUuid)
        handOut()
      })
    }
  }

  return {
    async reserve(runUuid, apiKeyId) {
      if ((perKey.get(apiKeyId) ?? 0) >= options.maxQueuedPerKey) return false
      enter({ runUuid, apiKeyId, isReady: false })
      return true
    },
    add(run) {
      if (started.has(run.runUuid)) return
      const job = waiting.get(run.runUuid)
      if (job) job.isReady = true
      else enter({ ...run, isReady: true })
      handOut()
    },
    remove: leave,
    work(begin) {
      start = begin
      handOut()
    },
    async stop() {
      start = undefined
    },
    depth: () => waiting.size,
  }
}

function firstReady(jobs: ReadonlyMap<string, Job>): Job | undefined {
  for (const job of jobs.values()) if (job.isReady) return job
  return undefined
}
