import { describe, expect, it } from 'vitest'
import type { LiveCache } from '../../src/features/deps.ts'

/** The contract of every LiveCache. Promise 18 (caches coherent) depends on the `drop` group. */
export function liveCacheContract(create: () => Promise<LiveCache>): void {
  describe('reads', () => {
    it('loads once and returns the same object', async () => {
      const cache = await create()
      const value = { a: 1 }
      expect(await cache.read('s', 'k', async () => value)).toBe(value)
      expect(await cache.read('s', 'k', () => Promise.reject(new Error('not called')))).toBe(value)
    })

    it('caches null and undefined', async () => {
      const cache = await create()
      let loads = 0
      const load = async () => {
        loads += 1
        return null
      }
      await cache.read('s', 'k', load)
      expect(await cache.read('s', 'k', load)).toBeNull()
      expect(loads).toBe(1)
    })

    it('shares one load between concurrent misses', async () => {
      const cache = await create()
      const gate = openable()
      let loads = 0
      const load = async () => {
        loads += 1
        await gate.opened
        return loads
      }
      const reads = Array.from({ length: 20 }, () => cache.read('s', 'k', load))
      gate.open()
      expect(new Set(await Promise.all(reads))).toEqual(new Set([1]))
    })

    it('separates cache scopes and keys', async () => {
      const cache = await create()
      await cache.read('s', 'k', async () => 1)
      expect(await cache.read('s', 'other', async () => 2)).toBe(2)
      expect(await cache.read('t', 'k', async () => 3)).toBe(3)
    })

    it('does not cache a failed load', async () => {
      const cache = await create()
      await expect(cache.read('s', 'k', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
      const throwsAtOnce = (): Promise<number> => {
        throw new Error('at once')
      }
      await expect(cache.read('s', 'k', throwsAtOnce)).rejects.toThrow('at once')
      expect(await cache.read('s', 'k', async () => 4)).toBe(4)
    })
  })

  describe('drop', () => {
    it('removes only the given cache scope', async () => {
      const cache = await create()
      await cache.read('s', 'k', async () => 1)
      await cache.read('t', 'k', async () => 1)
      await cache.drop('s')
      expect(await cache.read('s', 'k', async () => 2)).toBe(2)
      expect(await cache.read('t', 'k', async () => 2)).toBe(1)
    })

    it('does not cache a load that began before the drop', async () => {
      const cache = await create()
      const gate = openable()
      const early = cache.read('s', 'k', async () => {
        await gate.opened
        return 'old'
      })
      await cache.drop('s')
      const late = cache.read('s', 'k', async () => 'new')
      expect(await late).toBe('new')
      gate.open()
      expect(await early).toBe('old')
      expect(await cache.read('s', 'k', async () => 'newest')).toBe('new')
    })

    it('does not cache such a load even if nothing was read in between', async () => {
      const cache = await create()
      const gate = openable()
      const early = cache.read('s', 'k', async () => {
        await gate.opened
        return 'old'
      })
      await cache.drop('s')
      gate.open()
      await early
      expect(await cache.read('s', 'k', async () => 'new')).toBe('new')
    })
  })

  it('clear removes every cache scope and does not cache loads in progress', async () => {
    const cache = await create()
    const gate = openable()
    await cache.read('s', 'k', async () => 'old')
    const early = cache.read('t', 'k', async () => {
      await gate.opened
      return 'old'
    })
    cache.clear()
    gate.open()
    await early
    expect(await cache.read('s', 'k', async () => 'new')).toBe('new')
    expect(await cache.read('t', 'k', async () => 'new')).toBe('new')
  })
}

function openable(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
