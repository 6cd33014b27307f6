import { expect, it } from 'vitest'
import { listPage } from './results.ts'

const mark = (omitted: string[]) => ({ omitted })
const entry = (path: string, kilobytes: number) => ({ path, text: 'é'.repeat(kilobytes * 512) })

it('ends a page before it is too large for its cursor', () => {
  const page = listPage(mark)
  const all = ['a', 'b', 'c'].map((path) => entry(path, 100))
  expect(all.map((each) => page.add(each))).toEqual([true, true, false])
  expect(page.entries).toEqual(all.slice(0, 2))
})

it('leaves out the long values of an entry that fills a page by itself, and names them', () => {
  const page = listPage(mark)
  expect(page.add(entry('a', 300))).toBe(true)
  expect(page.add(entry('b', 1))).toBe(false)
  expect(page.entries).toEqual([{ path: 'a', omitted: ['text'] }])
})
