import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assertCreatablePath,
  comparePaths,
  isCreatablePath,
  normalizeDocumentPath,
  similarPaths,
} from './document-path.ts'

// The unit `binary` of fast-check prepares a list of all of them first, which takes seconds.
const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point))

describe('normalizeDocumentPath', () => {
  it.each([
    ['a/b', 'a/b'],
    ['/a', 'a'],
    ['//a', 'a'],
    ['a/', 'a'],
    ['a//', 'a/'],
    ['/', ''],
    ['e\u0301', '\u00e9'],
    ['A', 'A'],
  ])('normalizes %j to %j', (given, expected) => expect(normalizeDocumentPath(given)).toBe(expected))

  it('does not normalize a text that is too long to become a path', () => {
    const marks = `a${'\u0301'.repeat(800)}${'\u0323'.repeat(800)}`
    expect(normalizeDocumentPath(`/${marks}/`)).toBe(marks)
  })

  it('normalizes every text that may become a valid path', () => {
    // This is the longest form of ΐ: U+1FBE is an iota of three bytes.
    expect(normalizeDocumentPath('\u1fbe\u0308\u0301'.repeat(256))).toBe('\u0390'.repeat(256))
    const characters = Array.from({ length: 0x30000 }, (_, point) => String.fromCodePoint(point))
    const longest = new Map<string, string>()
    for (const character of characters) {
      const part = character.normalize('NFD')
      if (Buffer.byteLength(character) > Buffer.byteLength(longest.get(part) ?? part)) longest.set(part, character)
    }
    const ratios = characters.map((character) => {
      const parts = Array.from(character.normalize('NFD'), (part) => longest.get(part) ?? part).join('')
      return Buffer.byteLength(parts) / Buffer.byteLength(parts.normalize('NFC'))
    })
    expect(ratios.reduce((most, ratio) => Math.max(most, ratio))).toBe(3.5)
  })

  it('returns a valid path unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => {
        const path = normalizeDocumentPath(text)
        if (isCreatablePath(path)) expect(normalizeDocumentPath(path)).toBe(path)
      }),
    )
  })
})

describe('path grammar', () => {
  it.each(['a', 'a/b.c/d-e_f', 'Ünï/日本/١', 'a..b', '...', 'क्षि'])('allows %s', (path) =>
    expect(isCreatablePath(path)).toBe(true),
  )
  it.each(['', ' ', 'a b', 'a//b', 'a/', '.', '..', 'a/../b', './a', 'a\\b', 'a\0', 'a?', '\ud800'])(
    'refuses %j',
    (path) => {
      expect(() => assertCreatablePath(path)).toThrow(expect.objectContaining({ reason: 'invalid-path' }))
    },
  )
  it('counts bytes, not characters', () => {
    expect(isCreatablePath('é'.repeat(256))).toBe(true)
    expect(() => assertCreatablePath('é'.repeat(257))).toThrow(
      expect.objectContaining({ reason: 'path-too-long', details: { limit: 512 } }),
    )
  })
})

it('orders by code point', () => {
  expect(['\u{10400}', '\uff5e', 'b', 'B'].sort(comparePaths)).toEqual(['B', 'b', '\uff5e', '\u{10400}'])
})

describe('similarPaths', () => {
  const paths = ['support/reply', 'support/replies', 'triage', 'Support/Reply', 'chain/draft']
  it('lists the closest match first', () =>
    expect(similarPaths('suport/reply', paths, 3)[0]).toMatch(/support\/reply/i))
  it('returns at most the given limit', () => expect(similarPaths('support/repl', paths, 2)).toHaveLength(2))
  it('returns nothing if no path is similar', () => expect(similarPaths('zzz', paths, 3)).toEqual([]))
})
