import { expect, it } from 'vitest'
import { randomText } from './random-text.ts'

it('returns base62 text of the requested length across many refills', () => {
  for (const length of [0, 1, 22, 30, 5_000]) expect(randomText(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`))
})

it('returns unique texts with evenly distributed characters', () => {
  const texts = Array.from({ length: 20_000 }, () => randomText(22))
  expect(new Set(texts).size).toBe(texts.length)
  const counts = new Map<string, number>()
  for (const letter of texts.join('')) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  expect(counts.size).toBe(62)
  const expected = (texts.length * 22) / 62
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.1)
})
