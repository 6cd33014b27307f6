import { describe, expect, it } from 'vitest'
import { createFairQueue } from '../../src/adapters/evaluation/fair-queue.ts'
import type { EvaluationOwner } from '../../src/features/templates/template-engine.ts'

interface NamedJob extends EvaluationOwner {
  name: string
}

const limits = { perKey: 100, perWorkspace: 200 }

const job = (name: string, workspaceId: number, more: Partial<NamedJob> = {}): NamedJob => ({
  ...{ name, workspaceId, apiKeyId: 1, isRun: false },
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

  it('runs one job of a workspace at a time', () => {
    const queue = createFairQueue<NamedJob>(limits)
    for (const name of ['a1', 'a2']) queue.add(job(name, 1))
    queue.add(job('b1', 2))
    const first = queue.take()
    expect([first?.name, queue.take()?.name, queue.take()?.name]).toEqual(['a1', 'b1', undefined])
    if (first) queue.release(first)
    expect(queue.take()?.name).toBe('a2')
  })

  it("counts a key's and a workspace's queued and running jobs", () => {
    const queue = createFairQueue<NamedJob>({ perKey: 2, perWorkspace: 3 })
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
