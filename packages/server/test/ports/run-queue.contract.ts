/** The contract of every run queue: runs start in order of arrival, and each is started at most once at a time. */
import { describe, expect, it } from 'vitest'
import type { RunQueue } from '../../src/features/runs/ports.ts'

export interface QueueOptions {
  workers: number
  maxQueuedPerKey: number
}

function holdingWorkers() {
  const started: string[] = []
  const held = new Map<string, () => void>()
  return {
    started,
    start: (runUuid: string) =>
      new Promise<void>((resolve) => {
        started.push(runUuid)
        held.set(runUuid, resolve)
      }),
    finish: (runUuid: string) => held.get(runUuid)?.(),
  }
}

const run = (runUuid: string, apiKeyId = 1) => ({ runUuid, apiKeyId })

export function describeRunQueue(name: string, create: (options: QueueOptions) => Promise<RunQueue>): void {
  const open = async (options: Partial<QueueOptions> = {}) => {
    const queue = await create({ workers: 2, maxQueuedPerKey: 100, ...options })
    return { queue, ...holdingWorkers() }
  }

  describe(`run queue: ${name}`, () => {
    it('starts runs in order of arrival, one per worker', async () => {
      const { queue, started, start, finish } = await open()
      for (const uuid of ['a', 'b', 'c', 'd']) queue.add(run(uuid))
      queue.work(start)
      await expect.poll(() => started).toEqual(['a', 'b'])
      expect(await queue.depth()).toBe(2)
      finish('b')
      await expect.poll(() => started).toEqual(['a', 'b', 'c'])
      finish('a')
      finish('c')
      await expect.poll(() => started).toEqual(['a', 'b', 'c', 'd'])
    })

    it('starts a run once, however often it is added while it waits or runs', async () => {
      const { queue, started, start, finish } = await open({ workers: 1 })
      queue.work(start)
      for (const uuid of ['a', 'b', 'b', 'a', 'c']) queue.add(run(uuid))
      await expect.poll(() => started).toEqual(['a'])
      queue.add(run('a'))
      finish('a')
      await expect.poll(() => started).toEqual(['a', 'b'])
      finish('b')
      await expect.poll(() => started).toEqual(['a', 'b', 'c'])
    })

    it('restarts a run that was added again after it had left its worker', async () => {
      const { queue, started, start, finish } = await open({ workers: 1 })
      queue.work(start)
      queue.add(run('a'))
      queue.add(run('b'))
      await expect.poll(() => started).toEqual(['a'])
      finish('a')
      await expect.poll(() => started).toEqual(['a', 'b'])
      queue.add(run('a'))
      finish('b')
      await expect.poll(() => started).toEqual(['a', 'b', 'a'])
    })

    it('skips a reserved run until its row is stored', async () => {
      const { queue, started, start } = await open()
      queue.work(start)
      expect(await queue.reserve('a', 1)).toBe(true)
      queue.add(run('b'))
      await expect.poll(() => started).toEqual(['b'])
      queue.add(run('a'))
      await expect.poll(() => started).toEqual(['b', 'a'])
    })

    it('limits the waiting runs per key, and frees a place when a run starts or is removed', async () => {
      const { queue, started, start, finish } = await open({ workers: 1, maxQueuedPerKey: 2 })
      queue.work(start)
      queue.add(run('running'))
      await expect.poll(() => started).toEqual(['running'])
      expect([await queue.reserve('a', 1), await queue.reserve('b', 1), await queue.reserve('c', 1)]).toEqual([
        true,
        true,
        false,
      ])
      expect(await queue.reserve('d', 2)).toBe(true)
      queue.remove('a')
      expect(await queue.reserve('c', 1)).toBe(true)
      queue.add(run('b'))
      finish('running')
      await expect.poll(() => started).toEqual(['running', 'b'])
      expect(await queue.reserve('e', 1)).toBe(true)
      expect(await queue.reserve('f', 1)).toBe(false)
    })

    it('never starts a removed run', async () => {
      const { queue, started, start } = await open()
      for (const uuid of ['a', 'b', 'c']) queue.add(run(uuid))
      queue.remove('a')
      queue.remove('unknown')
      queue.work(start)
      await expect.poll(() => started).toEqual(['b', 'c'])
    })

    it('starts no runs after it was stopped, and keeps the waiting ones', async () => {
      const { queue, started, start, finish } = await open({ workers: 1 })
      queue.work(start)
      queue.add(run('a'))
      queue.add(run('b'))
      await expect.poll(() => started).toEqual(['a'])
      await queue.stop()
      finish('a')
      queue.add(run('c'))
      // A worker would have started a run by then.
      await new Promise((resolve) => setImmediate(resolve))
      expect(started).toEqual(['a'])
      queue.work(start)
      await expect.poll(() => started).toEqual(['a', 'b'])
    })
  })
}
