import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isCreatablePath } from '../../server/src/features/documents/document-path.ts'
import { promptPath } from '../src/screens/prompts/edits/prompt-path.ts'

const character = fc.oneof(
  fc.constantFrom(...' -_./éÅß?\u0301日a'),
  fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
)

test.each([
  ['support/reply', 'support/reply'],
  ['  My first prompt ', 'my-first-prompt'],
  ['/Réponse à un client/', 'reponse-a-un-client'],
  ['e\u0301te\u0301', 'ete'],
  ['50% off?#1 <b>', '50-off-1-b'],
  ['a - b', 'a-b'],
  ['a--b_c.D', 'a--b_c.D'],
  ['a//b/../c/.', 'a/b/c'],
  ['日本/क्षि/Ελλάδα', '日本/क्षि/Ελλάδα'],
  [' ?/ ', ''],
])('%j becomes %j', (typed, path) => expect(promptPath(typed)).toBe(path))

test('segments of other paths stay as they are', () => {
  expect(promptPath('ünï/Neue Prüfung', new Set(['ünï']))).toBe('ünï/neue-prufung')
})

test('the server accepts every path that is made, and it is made again from itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 60 }), (typed) => {
      const path = promptPath(typed)
      expect(path === '' || isCreatablePath(path)).toBe(true)
      expect(promptPath(path)).toBe(path)
    }),
  )
})
