import { afterEach, expect, it, vi } from 'vitest'
import { createExpiringMap } from './expiring-map.ts'

afterEach(() => vi.useRealTimers())

it('expires entries and keeps no timer while it is empty', () => {
  // `LRUCache` ignores the TTL of an entry that starts at 0.
  vi.useFakeTimers().advanceTimersByTime(1)
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

it('keeps the newest entries if there are too many', () => {
  const map = createExpiringMap<number>({ ttlMs: 60_000, maxEntries: 2 })
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) map.set(key, index)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([2, undefined, 3])
  map.delete('a')
  expect(map.get('a')).toBeUndefined()
})

it('keeps the newest entries that fit the byte limit', () => {
  const map = createExpiringMap<string>({ ttlMs: 60_000, maxEntries: 100, maxBytes: 10 })
  map.set('a', 'old', 4)
  map.set('b', 'replaced', 4)
  map.set('b', 'new', 6)
  expect([map.get('a'), map.get('b')]).toEqual(['old', 'new'])
  map.set('c', 'newest', 4)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 'new', 'newest'])
  map.delete('b')
  map.set('d', 'fits again', 6)
  expect([map.get('c'), map.get('d')]).toEqual(['newest', 'fits again'])
  map.clear()
  map.set('e', 'all', 10)
  expect(map.get('e')).toBe('all')
})

it('skips an entry larger than the whole map and evicts nothing for it', () => {
  const map = createExpiringMap<string>({ ttlMs: 60_000, maxEntries: 100, maxBytes: 10 })
  map.set('a', 'small', 4)
  map.set('b', 'before', 4)
  map.set('b', 'too large', 11)
  expect([map.get('a'), map.get('b')]).toEqual(['small', undefined])
})

it('keeps nothing with a limit of 0 bytes', () => {
  const map = createExpiringMap<string>({ ttlMs: 60_000, maxEntries: 100, maxBytes: 0 })
  map.set('a', 'text', 4)
  expect(map.get('a')).toBeUndefined()
})
