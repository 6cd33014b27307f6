/**
 * Distributes queued runs over the servers through BullMQ. The rows of the runs are the durable copy: after a lost job,
 * the sweep of any server queues the run again.
 */
import { Queue, Worker } from 'bullmq'
import type { RunQueue } from '../../features/runs/ports.ts'
import { refuse } from '../../shared/app-error.ts'
import type { RedisConnections } from './connections.ts'

export interface SharedRunQueueOptions {
  connections: RedisConnections
  workers: number
  maxQueuedPerKey: number
  /** Returns the number of stored queued runs of an API key. */
  countQueued(apiKeyId: number): Promise<number>
}

export interface SharedRunQueue extends RunQueue {
  close(): Promise<void>
}

/** BullMQ must never run a job twice by itself: a run may call a paid model. */
export const jobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const
export const workerOptions = { maxStalledCount: 0, lockDuration: 10_000, stalledInterval: 5_000 } as const

const queueName = 'runs'

export function createSharedRunQueue(options: SharedRunQueueOptions): SharedRunQueue {
  const { connections, workers, maxQueuedPerKey, countQueued } = options
  const { requests, events, prefix, open } = connections
  const shared = { prefix: `${prefix}:queue` }
  // No request waits for these commands, so they may take longer.
  const queue = new Queue(queueName, { ...shared, connection: events, defaultJobOptions: jobOptions })
  queue.on('error', () => undefined)
  let worker: Worker | undefined
  let isStopped = false
  // Reserved runs are not stored yet, so `countQueued` does not include them.
  const reserved = new Map<string, number>()
  const reservedBy = (apiKeyId: number) => [...reserved.values()].filter((id) => id === apiKeyId).length

  return {
    async reserve(runUuid, apiKeyId) {
      reserved.set(runUuid, apiKeyId)
      try {
        const [queued] = await Promise.all([countQueued(apiKeyId), mustAnswer(requests.ping())])
        if (queued + reservedBy(apiKeyId) <= maxQueuedPerKey) return true
      } catch (error) {
        reserved.delete(runUuid)
        throw error
      }
      reserved.delete(runUuid)
      return false
    },
    add({ runUuid }) {
      reserved.delete(runUuid)
      // BullMQ ignores a job whose id it already has. If Redis does not answer, the next sweep adds the run.
      queue.add('run', {}, { jobId: runUuid }).catch(() => undefined)
    },
    remove(runUuid) {
      reserved.delete(runUuid)
      queue.remove(runUuid).catch(() => undefined)
    },
    work(start) {
      isStopped = false
      const process = async ({ id }: { id?: string | undefined }) => {
        // The job is removed, and the sweep of another server queues the run again.
        if (isStopped || id === undefined) throw new Error('This server starts no more runs')
        await start(id)
      }
      const connection = open({ maxRetriesPerRequest: null })
      worker = new Worker(queueName, process, { ...shared, ...workerOptions, connection, concurrency: workers })
      worker.on('error', () => undefined)
    },
    async stop() {
      isStopped = true
      await worker?.pause(true).catch(() => undefined)
    },
    depth: () => queue.getWaitingCount(),
    async close() {
      await worker?.close(true).catch(() => undefined)
      await queue.close().catch(() => undefined)
    },
  }
}

async function mustAnswer<T>(command: Promise<T>): Promise<T> {
  try {
    return await command
  } catch (cause) {
    throw refuse('queue-unavailable', { retryAfter: 1 }, { cause })
  }
}
