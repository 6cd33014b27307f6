import { describe, expect, it } from 'vitest'
import { createFairQueue, type QueuedJob } from '../../src/adapters/template-workers/fair-queue.ts'

interface NamedJob extends QueuedJob {
  name: string
}

const limits = { running: 2, perKey: 100, perWorkspace: 200 }

const job = (name: string, workspaceId: number, more: Partial<NamedJob> = {}): NamedJob => ({
  ...{ name, workspaceId, apiKeyId: 1, isProven: true, isRun: false },
  ...more,
})

/** Runs one job at a time. Each job ends before the next one starts. */
function served(queue: ReturnType<typeof createFairQueue<NamedJob>>): string[] {
  const names: string[] = []
  for (let next = queue.take(); next; next = queue.take()) {
    names.push(next.name)
    queue.release(next)
  }
  return names
}

describe('fair queue', () => {
  it('alternates between workspaces', () => {
    const queue = createFairQueue<NamedJob>(limits)
    for (const name of ['a1', 'a2', 'a3', 'a4']) queue.add(job(name, 1))
    for (const name of ['b1', 'b2']) queue.add(job(name, 2))
    queue.add(job('c1', 3))
    expect(served(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  it("alternates between a workspace's keys, so more keys get no larger share", () => {
    const queue = createFairQueue<NamedJob>(limits)
    for (const apiKeyId of [1, 2, 3]) for (const n of [1, 2]) queue.add(job(`a${apiKeyId}-${n}`, 1, { apiKeyId }))
    for (const name of ['b1', 'b2', 'b3']) queue.add(job(name, 2))
    expect(served(queue)).toEqual(['a1-1', 'b1', 'a2-1', 'b2', 'a3-1', 'b3', 'a1-2', 'a2-2', 'a3-2'])
  })

  it('limits concurrent jobs per workspace, with one less for new texts', () => {
    const queue = createFairQueue<NamedJob>(limits)
    for (const name of ['new1', 'new2']) queue.add(job(name, 1, { isProven: false }))
    for (const name of ['known1', 'known2']) queue.add(job(name, 1))
    const taken = [queue.take(), queue.take(), queue.take()]
    expect(taken.map((each) => each?.name)).toEqual(['new1', 'known1', undefined])
    if (taken[1]) queue.release(taken[1])
    expect(queue.take()?.name).toBe('known2')
    queue.add(job('other', 2, { isProven: false }))
    expect(queue.take()?.name).toBe('other')
  })

  it('allows one less per workspace while another one is active, and the full limit later', () => {
    let time = 0
    const queue = createFairQueue<NamedJob>(limits, () => time)
    queue.add(job('b1', 2))
    const other = queue.take()
    if (other) queue.release(other)
    for (const name of ['a1', 'a2', 'a3']) queue.add(job(name, 1))
    expect([queue.take()?.name, queue.take()?.name]).toEqual(['a1', undefined])
    time = 10_001
    queue.add(job('a4', 1))
    expect([queue.take()?.name, queue.take()?.name]).toEqual(['a2', undefined])
  })

  it("counts a key's and a workspace's queued and running jobs", () => {
    const queue = createFairQueue<NamedJob>({ running: 1, perKey: 2, perWorkspace: 3 })
    expect(queue.add(job('a1', 1))).toBeUndefined()
    const running = queue.take()
    expect(queue.add(job('a2', 1))).toBeUndefined()
    expect(queue.add(job('a3', 1))).toBe('API key')
    expect(queue.add(job('a4', 1, { apiKeyId: 2 }))).toBeUndefined()
    expect(queue.add(job('a5', 1, { apiKeyId: 3 }))).toBe('workspace')
    expect(queue.add(job('a6', 1, { apiKeyId: 3, isRun: true }))).toBeUndefined()
    expect(queue.add(job('b1', 2))).toBeUndefined()
    if (running) queue.release(running)
    expect(queue.add(job('a7', 1))).toBe('workspace')
    expect(served(queue).sort()).toEqual(['a2', 'a4', 'a6', 'b1'])
    expect(queue.add(job('a8', 1))).toBeUndefined()
  })

  it('drops only queued jobs', () => {
    const queue = createFairQueue<NamedJob>(limits)
    const [first, second] = [job('a1', 1), job('a2', 1)]
    queue.add(first)
    queue.add(second)
    expect(queue.take()).toBe(first)
    expect(queue.drop(first)).toBe(false)
    expect(queue.drop(second)).toBe(true)
    queue.release(first)
    queue.add(first)
    expect(queue.dropAll()).toEqual([first])
    expect(queue.take()).toBeUndefined()
  })
})
