import { expect, it } from 'vitest'
import { NotFoundError, PagePromise, Stet } from '../src/index.ts'

/** Starts a server with `count` conversations, `size` per page. The cursor is the start index of a page. */
function listed(count: number, size = 2) {
  const asked: (string | null)[] = []
  const fetch = async (url: unknown) => {
    const cursor = new URL(String(url)).searchParams.get('cursor')
    asked.push(cursor)
    const from = Number(cursor ?? 0)
    const items = Array.from({ length: Math.min(size, count - from) }, (_, index) => ({ uuid: `c${from + index}` }))
    return Response.json({ items, nextCursor: from + size < count ? String(from + size) : null })
  }
  return { asked, stet: new Stet({ apiKey: 'k', fetch, logLevel: 'off' }) }
}
const uuids = (items: readonly { uuid: string }[]) => items.map(({ uuid }) => uuid)

it('iterating yields the items of all pages and requests each page once', async () => {
  const { stet, asked } = listed(5)
  const seen: string[] = []
  for await (const { uuid } of stet.conversations.list()) seen.push(uuid)
  expect(seen).toEqual(['c0', 'c1', 'c2', 'c3', 'c4'])
  expect(asked).toEqual([null, '2', '4'])
})

it('an unread page is not requested', async () => {
  const { stet, asked } = listed(5)
  for await (const { uuid } of stet.conversations.list()) if (uuid === 'c1') break
  expect(asked).toEqual([null])
})

it('next() returns one page after another', async () => {
  const { stet } = listed(3)
  const first = await stet.conversations.list()
  expect([uuids(first.items), first.nextCursor]).toEqual([['c0', 'c1'], '2'])
  const second = await first.next()
  expect([uuids(second?.items ?? []), second?.nextCursor]).toEqual([['c2'], null])
  expect(await second?.next()).toBeNull()
})

it.each([
  [0, []],
  [1, ['c0']],
  [2, ['c0', 'c1']],
  [3, ['c0', 'c1', 'c2']],
  [9, ['c0', 'c1', 'c2', 'c3', 'c4']],
])('toArray returns at most %i items and requests no extra page', async (limit, expected) => {
  const { stet, asked } = listed(5)
  const page = await stet.conversations.list()
  expect(uuids(await page.toArray({ limit }))).toEqual(expected)
  expect(asked).toHaveLength(Math.max(1, Math.ceil(expected.length / 2)))
})

it('a list starts at the given cursor', async () => {
  const { stet, asked } = listed(5)
  expect(uuids(await (await stet.conversations.list({ cursor: '3' })).toArray())).toEqual(['c3', 'c4'])
  expect(asked).toEqual(['3'])
})

it('a page promise also resolves like any other call', async () => {
  const { stet } = listed(1)
  const promise = stet.conversations.list()
  expect(promise).toBeInstanceOf(PagePromise)
  const { data, response } = await promise.withResponse()
  expect([uuids(data.items), response.status]).toEqual([['c0'], 200])
  const body = { name: 'NotFoundError', message: 'Project not found', errorCode: 'NotFoundError', details: {} }
  const missing = new Stet({
    apiKey: 'k',
    fetch: async () => Response.json(body, { status: 404 }),
    logLevel: 'off',
    maxRetries: 0,
  })
  await expect(missing.conversations.list()).rejects.toBeInstanceOf(NotFoundError)
})

it('an evaluation without a project rejects before any request', async () => {
  const { stet, asked } = listed(1)
  await expect(stet.evaluations.create({ name: 'n', metric: 'binary' })).rejects.toThrow(/No project/)
  expect(asked).toEqual([])
})
