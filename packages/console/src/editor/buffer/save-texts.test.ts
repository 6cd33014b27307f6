import { expect, test } from 'vitest'
import { saveTexts } from './save-texts.ts'

const save = (text: string) => ({ key: 'k', text })
const base = (text: string | null, contentHash = 'h') => ({ text, contentHash })
const large = 'a'.repeat(40_000)
const tooLarge = 'a'.repeat(60_000)

test('a request carries its base, and a hidden page sends it so that it outlives the page', () => {
  const texts = { prompt: 'new', base: 'old' }
  expect(saveTexts(save('new'), base('old'), false)).toEqual({ texts, keepalive: false })
  expect(saveTexts(save('new'), base('old'), true)).toEqual({ texts, keepalive: true })
})

test('a hidden page leaves the base out if it does not fit into the request', () => {
  expect(saveTexts(save(large), base(large), true)).toEqual({ texts: { prompt: large }, keepalive: true })
  expect(saveTexts(save(large), base(large), false).texts.base).toBe(large)
  // The limit counts bytes, and characters of JSON that are escaped.
  for (const text of ['é'.repeat(20_000), '\n'.repeat(20_000)])
    expect(saveTexts(save(text), base(text), true)).toEqual({ texts: { prompt: text }, keepalive: true })
})

test('a repeated request keeps its base, and a prompt that does not fit is sent with it', () => {
  const repeated = { ...save(large), mayBeStored: true as const }
  expect(saveTexts(repeated, base(large), true)).toEqual({ texts: { prompt: large, base: large }, keepalive: false })
  const whole = { texts: { prompt: tooLarge, base: 'old' }, keepalive: false }
  expect(saveTexts(save(tooLarge), base('old'), true)).toEqual(whole)
})

test('a new prompt has no base, and neither has a text of which only the hash is left', () => {
  expect(saveTexts(save('new'), base('', ''), false).texts).toEqual({ prompt: 'new' })
  expect(saveTexts(save('new'), base(null), false).texts).toEqual({ prompt: 'new' })
})
