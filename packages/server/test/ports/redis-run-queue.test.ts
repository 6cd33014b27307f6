import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSharedRunQueue, jobOptions, workerOptions } from '../../src/adapters/redis/run-queue.ts'
import type { RunQueue } from '../../src/features/runs/ports.ts'
import { AppError } from '../../src/shared/app-error.ts'
import { isSkippedWithoutRedis, redisConnections, redisProcess, type TestRedis, testRedis } from '../support/redis.ts'
import { describeRunQueue, type QueueOptions } from './run-queue.contract.ts'

const isSkipped = isSkippedWithoutRedis('the run queue on BullMQ')

/** One server's queue, with the queued rows that the database would have. */
async function queueOn(address: TestRedis, options: QueueOptions): Promise<RunQueue> {
  const rows = new Map<string, number>()
  const connections = await redisConnections(address)
  const countQueued = async (apiKeyId: number) => [...rows.values()].filter((id) => id === apiKeyId).length
  const queue = createSharedRunQueue({ connections, countQueued, ...options })
  onTestFinished(() => queue.close())
  return {
    ...queue,
    add(run) {
      rows.set(run.runUuid, run.apiKeyId)
      queue.add(run)
    },
    remove(runUuid) {
      rows.delete(runUuid)
      queue.remove(runUuid)
    },
    work(start) {
      queue.work((runUuid) => {
        rows.delete(runUuid)
        return start(runUuid)
      })
    },
  }
}

const run = (runUuid: string) => ({ runUuid, apiKeyId: 1 })
const oneWorker = { workers: 1, maxQueuedPerKey: 100 }

describe.skipIf(isSkipped)('run queue on BullMQ', () => {
  describeRunQueue('on BullMQ', (options) => queueOn(testRedis(), options))

  // Other values let BullMQ repeat a paid model call, or keep a known job id so that the sweep cannot queue a run again.
  it('has the options on which at most one start per run depends', () => {
    expect(jobOptions).toEqual({ attempts: 1, removeOnComplete: true, removeOnFail: true })
    expect(workerOptions).toEqual({ maxStalledCount: 0, lockDuration: 10_000, stalledInterval: 5_000 })
  })

  it('starts a run on one of several servers at a time', async () => {
    const address = testRedis()
    const started = new Set<string>()
    const running = new Set<string>()
    const twice: string[] = []
    const servers = await Promise.all([1, 2, 3].map(() => queueOn(address, { workers: 5, maxQueuedPerKey: 100 })))
    for (const queue of servers) {
      queue.work(async (runUuid) => {
        if (running.has(runUuid)) twice.push(runUuid)
        started.add(runUuid)
        running.add(runUuid)
        await delay(1)
        running.delete(runUuid)
      })
    }
    const uuids = Array.from({ length: 200 }, (_, place) => `run-${place}`)
    // Every server adds every run, like the sweeps.
    for (const uuid of uuids) for (const queue of servers) queue.add(run(uuid))
    await expect.poll(() => started.size).toBe(uuids.length)
    expect(twice).toEqual([])
  })

  it('leaves no keys of finished and failed jobs', async () => {
    const address = testRedis()
    const queue = await queueOn(address, oneWorker)
    let ended = 0
    queue.work(async (runUuid) => {
      ended += 1
      if (runUuid === 'failing') throw new Error('no')
    })
    for (const uuid of ['a', 'failing', 'b']) queue.add(run(uuid))
    await expect.poll(() => ended).toBe(3)
    const { requests } = await redisConnections(address)
    const jobs = async () =>
      (await requests.keys(`${address.prefix}:queue:runs:*`)).filter((key) => /:(a|b|failing)$/.test(key))
    await expect.poll(jobs).toEqual([])
  })

  it('refuses reservations while Redis is unavailable, keeps no place for them, and works again afterwards', async () => {
    const redis = await redisProcess()
    onTestFinished(() => redis.close())
    const queue = await queueOn({ ...testRedis(redis.url), timeoutMs: 50 }, { workers: 1, maxQueuedPerKey: 1 })
    const started: string[] = []
    queue.work(async (runUuid) => void started.push(runUuid))
    queue.add(run('before'))
    await expect.poll(() => started).toEqual(['before'])
    await redis.kill()
    for (const uuid of ['a', 'b', 'c']) {
      const refusal = await queue.reserve(uuid, 1).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(AppError)
      expect(refusal).toMatchObject({ reason: 'queue-unavailable' })
    }
    await redis.start()
    await expect.poll(() => queue.reserve('d', 1).catch(() => undefined)).toBe(true)
    expect(await queue.reserve('e', 1)).toBe(false)
    queue.add(run('d'))
    await expect.poll(() => started).toEqual(['before', 'd'])
  })
})
