import { expect, test } from 'vitest'
import { canBeStruck } from './struck-words.ts'

test.each(['friendly', 'a warm tone', 'Überraschung, 3 Wörter!', "it's"])('%j is struck through', (text) => {
  expect(canBeStruck(text)).toBe(true)
})

test.each(['-', '- ', '---', 're-use', '—', 'a = b', '~~', ' ', '…', '{{ name }}'])(
  '%j is only marked, because the line would hide a part of it',
  (text) => expect(canBeStruck(text)).toBe(false),
)
