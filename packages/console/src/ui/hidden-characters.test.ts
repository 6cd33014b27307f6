import { expect, test } from 'vitest'
import { withSigns } from './hidden-characters.ts'

test('every character that turns the direction of a line, or cannot be seen, has a sign', () => {
  const turning = '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c'
  const unseen = '\u200b\u00ad\ufeff\u2028\u2029\u0085'
  for (const character of turning + unseen) expect(withSigns(`a${character}b`), character).toBe('a•b')
  expect(withSigns('Open \u202egnp.exe')).toBe('Open •gnp.exe')
  expect(withSigns('\u001b[31mred\u001b[0m\u0007\u007f')).toBe('␛[31mred␛[0m␇␡')
})

test('text of any script, emoji, tabs and line ends stay as they are', () => {
  const text = 'שלום نص می\u200cخواهم 日本 👩\u200d💻 é\n\tnext\r\nlast'
  expect(withSigns(text)).toBe(text)
})
