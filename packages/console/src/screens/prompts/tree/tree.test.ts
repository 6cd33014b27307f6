import type { TreeItem } from '@stet/sdk'
import { expect, test } from 'vitest'
import { countsOf, foldersAbove, matching, moved, movesOf, pathsInOrder, rowsOf, typedRow } from './tree.ts'

const item = (path: string, change: TreeItem['change'] = null): TreeItem => ({
  path,
  change,
  documentUuid: path,
  contentHash: '',
  compiles: true,
  isConfigured: true,
  isAgent: false,
  updatedAt: '',
  updatedBy: null,
})
const items = ['support/reply', 'run', 'hello', 'run/logs', 'support/p10', 'support/p2', 'a.b', 'ünï/日本'].map(
  (path) => item(path),
)
const rows = rowsOf(items, new Set())
const keyAt = (at: number) => rows[at]?.key
const at = (key: string) => rows.findIndex((row) => row.key === key)

test('folders are before prompts, both by name, and a prompt may have the name of a folder', () => {
  expect(rows.map(({ key }) => key)).toEqual([
    ...['run/', 'run/logs', 'support/', 'support/p2', 'support/p10', 'support/reply', 'ünï/', 'ünï/日本'],
    ...['a.b', 'hello', 'run'],
  ])
  expect(rows[at('support/p10')]).toMatchObject({ name: 'p10', level: 2, position: 2, siblings: 3 })
  expect(rowsOf(items, new Set(['support/'])).map(({ key }) => key)).not.toContain('support/reply')
  expect(pathsInOrder(items)[0]).toBe('run/logs')
  expect(foldersAbove('a/b/c')).toEqual(['a/', 'a/b/'])
})

test('the filter finds by parts of the path, in any order and case', () => {
  expect(matching(items, 'REP sup').map(({ path }) => path)).toEqual(['support/reply'])
  expect(matching(items, ' ')).toBe(items)
})

test('a deleted prompt is a change and no prompt', () => {
  expect(countsOf([item('a/b', 'deleted'), item('a/c', 'added'), item('d')])).toEqual({
    prompts: 2,
    changes: 2,
    errors: 0,
  })
})

test('a move is one row and one change, at the new path', () => {
  const from = { ...item('a/b', 'deleted'), movedTo: 'c/d' }
  const to = { ...item('c/d', 'added'), movedFrom: { path: 'a/b' } }
  expect(pathsInOrder([from, to, item('e')])).toEqual(['c/d', 'e'])
  expect(countsOf([from, to])).toEqual({ prompts: 1, changes: 1, errors: 0 })
})

test('a folder moves with all its prompts, and a prompt of the same name stays', () => {
  const all = [...['run', 'run/logs', 'run/a/b', 'runs/c'].map((path) => item(path)), item('run/gone', 'deleted')]
  const moves = (kind: 'folder' | 'prompt', key: string) =>
    movesOf(all, { kind, key }, 'to/run').map(({ from, path }) => [from, path])
  expect(moves('folder', 'run/')).toEqual([
    ['run/logs', 'to/run/logs'],
    ['run/a/b', 'to/run/a/b'],
  ])
  expect(moves('prompt', 'run')).toEqual([['run', 'to/run']])
})

test('arrows, Home and End move, and open and close folders', () => {
  const from = (key: string, pressed: string) => {
    const step = moved(rows, at(key), pressed)
    return step && 'focus' in step ? keyAt(step.focus) : step
  }
  expect(from('hello', 'Home')).toBe('run/')
  expect(from('run/', 'ArrowRight')).toBe('run/logs')
  expect(from('run/logs', 'ArrowLeft')).toBe('run/')
  expect(from('run/', 'ArrowLeft')).toEqual({ toggle: 'run/' })
  expect(from('run/logs', 'ArrowRight')).toBe(null)
  expect(from('run/', 'End')).toBe('run')
  expect([from('run', 'ArrowUp'), from('a.b', 'ArrowDown')]).toEqual(['hello', 'hello'])
  expect([from('run', 'ArrowDown'), from('run/', 'ArrowUp'), from('run', 'x')]).toEqual([null, null, null])
})

test('typed letters lead to the next row that starts with them', () => {
  expect(keyAt(typedRow(rows, at('run/'), 's'))).toBe('support/')
  expect(keyAt(typedRow(rows, at('support/'), 'sup'))).toBe('support/')
  expect(keyAt(typedRow(rows, at('support/'), 'pp'))).toBe('support/p2')
  expect(keyAt(typedRow(rows, at('support/p2'), 'pp'))).toBe('support/p10')
  expect(typedRow(rows, 0, 'zz')).toBe(-1)
})
