import { afterEach, expect, it, vi } from 'vitest'
import { createExpiringMap } from './expiring-map.ts'

afterEach(() => vi.useRealTimers())

it('forgets after its time, and has no timer when it is empty', () => {
  vi.useFakeTimers()
  const map = createExpiringMap<number>({ ttlMs: 60_000, maxEntries: 10 })
  map.set('a', 1)
  vi.advanceTimersByTime(40_000)
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  vi.advanceTimersByTime(20_001)
  expect(map.get('a')).toBeUndefined()
  expect(map.get('b')).toBe(2)
  vi.advanceTimersByTime(120_000)
  expect(vi.getTimerCount()).toBe(0)
})

it('keeps the newest of too many', () => {
  const map = createExpiringMap<number>({ ttlMs: 60_000, maxEntries: 2 })
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) map.set(key, index)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([2, undefined, 3])
  map.delete('a')
  expect(map.get('a')).toBeUndefined()
})
