import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Stet } from '@stet/sdk'
import { expect, it, onTestFinished } from 'vitest'
import { listPrompts } from '../src/sync/list-prompts.ts'

const tooLarge = {
  ...{ name: 'PayloadTooLargeError', message: 'The list is larger than 67108864 bytes.' },
  ...{ errorCode: 'PayloadTooLargeError', reason: 'list-too-large', details: { limit: 67_108_864 } },
}

/** Answers lists of `size` prompts, and refuses those without a limit if they have more than `most`. */
async function serve(size: number, most: number): Promise<{ client: Stet; queries: string[] }> {
  const paths = Array.from({ length: size }, (_, index) => `p${String(index).padStart(4, '0')}`)
  const queries: string[] = []
  const server = createServer((req, res) => {
    const { search, searchParams: query } = new URL(req.url ?? '', 'http://a')
    queries.push(search)
    const limit = Number(query.get('limit') ?? size)
    const after = paths.filter((path) => path > (query.get('cursor') ?? ''))
    const isRefused = !query.has('limit') && size > most
    res.writeHead(isRefused ? 413 : 200, { 'content-type': 'application/json' })
    res.end(JSON.stringify(isRefused ? tooLarge : after.slice(0, limit).map((path) => ({ path }))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { client: new Stet({ apiKey: 'key', projectId: 1, baseUrl }), queries }
}

it('lists a version in one request without resolved texts', async () => {
  const { client, queries } = await serve(300, 300)
  expect(await listPrompts(client, { versionUuid: 'live' })).toHaveLength(300)
  expect(queries).toEqual(['?resolved=false'])
})

it.each([199, 200, 250])('lists a version of %i prompts in pages if it is too large for one response', async (size) => {
  const { client, queries } = await serve(size, 10)
  const paths = (await listPrompts(client, { versionUuid: 'live' })).map(({ path }) => path)
  expect(paths).toEqual([...new Set(paths)].sort())
  expect(paths).toHaveLength(size)
  expect(queries).toHaveLength(1 + Math.floor(size / 100) + 1)
})
