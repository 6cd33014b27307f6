import { expect, test } from 'vitest'
import { changedPrompts, describeChange } from './changed-prompts.ts'

type Change = Parameters<typeof changedPrompts>[0]['changes'][number]

const side = (content: string | null) => (content === null ? null : { content, contentHash: content })

function change(path: string, before: string | null, after: string | null, moves: Partial<Change> = {}): Change {
  const status = before === null ? 'added' : after === null ? 'deleted' : 'modified'
  return { path, documentUuid: path, status, before: side(before), after: side(after), conflict: false, ...moves }
}

const read = (changes: Change[]) =>
  changedPrompts({ changes }).changes.map((one) => [
    one.path,
    describeChange(one.status, one),
    one.before?.content,
    one.after?.content,
  ])

test('a move is one change, compared with the text at the old path', () => {
  const moves = [
    change('a', 'a1', null, { movedTo: 'c' }),
    change('b', 'b1', 'b2'),
    change('c', null, 'a1', { movedFrom: { path: 'a' } }),
    change('d', 'd1', null),
    change('e', null, 'f2', { movedFrom: { path: 'f', contentHash: 'f1' } }),
    change('f', 'f1', null, { movedTo: 'e' }),
  ]
  expect(read(moves)).toEqual([
    ['b', 'changed', 'b1', 'b2'],
    ['c', 'moved from a', 'a1', 'a1'],
    ['d', 'deleted', 'd1', undefined],
    ['e', 'moved from f and changed', 'f1', 'f2'],
  ])
})

test('two prompts that swap their paths are compared with themselves, and a new prompt at a path that was left with nothing', () => {
  const swap = [
    change('a', 'a1', 'b1', { movedFrom: { path: 'b' }, movedTo: 'b' }),
    change('b', 'b1', 'a1', { movedFrom: { path: 'a' }, movedTo: 'a' }),
  ]
  expect(read(swap)).toEqual([
    ['a', 'moved from b', 'b1', 'b1'],
    ['b', 'moved from a', 'a1', 'a1'],
  ])
  const replaced = [change('a', 'a1', 'new', { movedTo: 'b' }), change('b', null, 'a1', { movedFrom: { path: 'a' } })]
  expect(read(replaced)).toEqual([
    ['a', 'added', undefined, 'new'],
    ['b', 'moved from a', 'a1', 'a1'],
  ])
})
