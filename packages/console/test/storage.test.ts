import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { stored, storeLargest } from '../src/app/storage.ts'

const room = 100

beforeEach(() => vi.stubGlobal('window', { localStorage: limitedStorage() }))
afterEach(() => vi.unstubAllGlobals())

test('a text that fits is stored whole, and what is dispensable makes room for it', () => {
  window.localStorage.setItem('inputs#1', 'x'.repeat(40))
  window.localStorage.setItem('inputs#2', 'x'.repeat(40))
  expect(storeLargest('copy', [{ text: 'new', base: 'old' }], 'inputs#')).toBe(true)
  expect(stored('copy')).toEqual({ text: 'new', base: 'old' })
  expect(Object.keys(window.localStorage)).toEqual(['inputs#2', 'copy'])
})

test('a text near half of the storage is stored without its base, and one that does not fit is reported', () => {
  const [text, base] = ['n'.repeat(50), 'o'.repeat(50)]
  expect(storeLargest('copy', [{ text, base }, { text }], 'inputs#')).toBe(true)
  expect(stored('copy')).toEqual({ text })
  expect(storeLargest('copy', [{ text: 'n'.repeat(room) }], 'inputs#')).toBe(false)
  expect(stored('copy')).toEqual({ text })
})

/** A storage that refuses what does not fit, like that of a browser. Its entries are its own properties. */
function limitedStorage(): Storage {
  const storage = Object.create({
    getItem: (key: string) => storage[key] ?? null,
    removeItem: (key: string) => delete storage[key],
    setItem(key: string, value: string) {
      const others = Object.entries<string>(storage).filter(([other]) => other !== key)
      const used = others.reduce((sum, [other, text]) => sum + other.length + text.length, 0)
      if (used + key.length + value.length > room) throw new DOMException('full', 'QuotaExceededError')
      storage[key] = value
    },
  })
  return storage
}
