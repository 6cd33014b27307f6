import { describe, expect, it } from 'vitest'
import { createLiveCache } from '../../src/adapters/in-process/live-cache.ts'
import { liveCacheContract } from './live-cache.contract.ts'

describe('in-process live cache', () => {
  liveCacheContract(async () => createLiveCache())

  it('evicts the least recently used entries beyond the entry limit', async () => {
    const cache = createLiveCache({ maxEntries: 2 })
    for (const key of ['a', 'b', 'a', 'c']) await cache.read('s', key, async () => `${key} first`)
    expect(await cache.read('s', 'a', async () => 'again')).toBe('a first')
    expect(await cache.read('s', 'b', async () => 'again')).toBe('again')
  })

  it('evicts entries beyond the byte limit, and is empty after a drop', async () => {
    const cache = createLiveCache({ maxBytes: 50_000 })
    const text = 'x'.repeat(10_000)
    for (const key of ['a', 'b', 'c']) await cache.read('s', key, async () => ({ key, text }))
    expect(await cache.read('s', 'a', async () => 'again')).toBe('again')
    expect(await cache.read('s', 'c', async () => 'again')).toMatchObject({ key: 'c' })
    await cache.drop('s')
    for (const key of ['d', 'e']) await cache.read('t', key, async () => ({ key, text }))
    expect(await cache.read('t', 'd', async () => 'again')).toMatchObject({ key: 'd' })
  })

  it('loads a value again after its maximum age', async () => {
    const cache = createLiveCache({ maxAgeMs: 300 })
    expect(await cache.read('s', 'a', async () => 'first')).toBe('first')
    expect(await cache.read('s', 'a', async () => 'early')).toBe('first')
    await expect.poll(() => cache.read('s', 'a', async () => 'again')).toBe('again')
  })
})
