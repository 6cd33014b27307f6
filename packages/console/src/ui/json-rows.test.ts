import { expect, test } from 'vitest'
import { jsonRows, mostRows } from './json-rows.ts'
import { windowOf } from './windowed.ts'

const none = new Set<string>()

test('each entry is a line with the path that leads to it', () => {
  const { rows } = jsonRows({ order: { 'a b': [1, { id: 2 }] } }, new Set(['order["a b"][1]']))
  expect(rows.map(({ path, depth, size }) => [path, depth, size])).toEqual([
    ['', 0, 1],
    ['order', 1, 1],
    ['order["a b"]', 2, 2],
    ['order["a b"][0]', 3, 0],
    ['order["a b"][1]', 3, 1],
    ['order["a b"][1].id', 4, 0],
  ])
})

test('long lists are closed at first, and a tree has at most 10,000 lines', () => {
  const long = { list: Array.from({ length: 1_000_000 }, (_, at) => at) }
  expect(jsonRows(long, none).rows).toHaveLength(2)
  const opened = jsonRows(long, new Set(['list']))
  expect(opened.rows).toHaveLength(mostRows)
  expect(opened.isCut).toBe(true)
  expect(jsonRows(Array.from({ length: 100 }), new Set([''])).rows).toHaveLength(1)
})

test('a value that is nested very deeply is read without recursion', () => {
  let deep: unknown = 1
  const paths = new Set<string>()
  for (let at = 0; at < 20_000; at += 1) deep = [deep]
  for (let at = 3; at < 1000; at += 1) paths.add('[0]'.repeat(at))
  expect(jsonRows(deep, paths).rows).toHaveLength(1001)
})

test('a window has the rows in view, with some on both sides, in steps', () => {
  const seen = { count: 2000, rowHeight: 32, spare: 16, height: 900 }
  expect(windowOf({ ...seen, top: 200 })).toEqual({ from: 0, to: 40 })
  const scrolled = windowOf({ ...seen, top: -32 * 1000 })
  expect(scrolled.from).toBe(984)
  expect(scrolled.to).toBeGreaterThanOrEqual(1000 + 29 + 16)
  expect(windowOf({ ...seen, top: -32 * 1001 })).toEqual(scrolled)
  expect(windowOf({ ...seen, top: -32 * 1999 }).to).toBe(2000)
  expect(windowOf({ ...seen, count: 3, top: -32 * 500 })).toEqual({ from: 2, to: 3 })
  expect(windowOf({ ...seen, top: 5000 })).toEqual({ from: 0, to: 1 })
  expect(windowOf({ ...seen, rowHeight: 0, top: 0 }).from).toBe(0)
})
