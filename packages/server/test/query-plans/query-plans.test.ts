/** Measures the rows that requests read from large tables, by the database's own counts of scans and rows. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiAnswer } from '../http/api-call.ts'
import { contractRoutes } from '../http/contract-routes.ts'
import { send, successOf } from '../http/declared-errors/requests.ts'
import { openWorld, type World } from '../http/declared-errors/world.ts'
import { count, timeFor } from '../support/counts.ts'
import { fillingStatements } from '../support/filled-tables.ts'

/** Larger tables must not be read completely or in proportion to their size. */
const rows = count(10_000, 100_000)
const mostRowsRead = 500
const nowhere = '00000000-0000-4000-8000-000000000000'
const bigTables = ['document', 'conversation', 'run', 'log_entry', 'annotation', 'version']

let world: World
let big: string
let projectId: number
let conversationUuid: string
let evaluationUuid: string
let draft: string | undefined

beforeAll(
  async () => {
    world = await openWorld()
    const { bench } = world
    const { api, live, server } = bench
    big = live
    projectId = Number(/\d+/.exec(live)?.[0])
    const ran = await bench.run('hello')
    conversationUuid = String(ran.body['uuid'])
    const log = await ok(api('POST', `${live}/documents/logs`, { body: { path: 'hello', messages: [] } }))
    const evaluation = await ok(
      api('POST', '/evaluations', { body: { projectId, name: 'big', metric: 'rating' } }),
      201,
    )
    evaluationUuid = String(evaluation.body['uuid'])
    for (const uuid of [conversationUuid, String(log.body['uuid'])]) {
      const annotate = `/conversations/${uuid}/evaluations/${evaluationUuid}/annotate`
      await ok(api('POST', annotate, { body: { score: 3 } }), 201)
    }
    const filling = { projectId, path: 'hello', documents: rows, conversations: rows, versions: count(1_000, 5_000) }
    for (const statement of fillingStatements(filling)) await server.database.session.script(statement)
    server.deps.liveCache.drop(`project:${projectId}`)
  },
  timeFor(rows, 4),
)
afterAll(() => world.close())

async function ok(answer: Promise<ApiAnswer>, status = 200): Promise<ApiAnswer> {
  const given = await answer
  expect(given.status, given.text).toBe(status)
  return given
}

interface Reads {
  scans: Record<string, number>
  rowsRead: number
}

async function readsSoFar(): Promise<Reads> {
  const { session } = world.bench.server.database
  await session.query('SELECT pg_stat_force_next_flush()::text AS flushed')
  const { rows: tables } = await session.query(
    `SELECT relname AS name, seq_scan::int AS scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read
     FROM pg_stat_user_tables WHERE relname = ANY($1::text[])`,
    [bigTables],
  )
  return {
    scans: Object.fromEntries(tables.map(({ name, scans }) => [String(name), Number(scans)])),
    rowsRead: tables.reduce((sum, { read }) => sum + Number(read), 0),
  }
}

/** Returns the tables that were scanned completely during `work`, and the number of rows read. */
async function readsDuring(work: () => Promise<unknown>): Promise<{ scanned: string[]; rowsRead: number }> {
  const before = await readsSoFar()
  await work()
  const after = await readsSoFar()
  return {
    scanned: bigTables.filter((table) => (after.scans[table] ?? 0) > (before.scans[table] ?? 0)),
    rowsRead: after.rowsRead - before.rowsRead,
  }
}

describe(`next to a project with ${rows} rows of each kind`, () => {
  it.each(contractRoutes)('$name does not scan a big table', async (route) => {
    const request = await successOf(world, route)
    const { scanned, rowsRead } = await readsDuring(async () => {
      const answer = await send(world, route, request)
      expect(answer.status, answer.text).toBeLessThan(300)
    })
    expect(scanned).toEqual([])
    expect(rowsRead).toBeLessThan(mostRowsRead)
  })
})

describe(`in a project with ${rows} rows of each kind`, () => {
  const cold = async (work: () => Promise<unknown>) => {
    world.bench.server.deps.liveCache.drop(`project:${projectId}`)
    return readsDuring(work)
  }
  const asking: [string, () => Promise<ApiAnswer>][] = [
    ['a prompt', () => world.bench.api('GET', `${big}/documents/hello`)],
    ['prompts by prefix', () => world.bench.api('GET', `${big}/documents?prefix=filling-7/`)],
    ['a version', () => world.bench.api('GET', big)],
    ['an older version', () => world.bench.api('GET', `${big.replace('live', versionUuid(20))}`)],
    [
      'a prompt in an older version',
      () => world.bench.api('GET', `${big.replace('live', versionUuid(20))}/documents/hello`),
    ],
    ['a run', () => world.bench.run('hello')],
    ['a log', () => world.bench.api('POST', `${big}/documents/logs`, { body: { path: 'hello', messages: [] } })],
    ['a conversation', () => world.bench.api('GET', `/conversations/${conversationUuid}`)],
    ['all conversations', () => world.bench.api('GET', '/conversations?limit=20')],
    ["the project's conversations", () => world.bench.api('GET', `/conversations?limit=20&projectId=${projectId}`)],
    [
      "a customer's conversations",
      () => world.bench.api('GET', '/conversations?customIdentifier=run-customer-7&limit=20'),
    ],
    ["a prompt's conversations", () => world.bench.api('GET', `/conversations?documentUuid=${nowhere}&limit=20`)],
    ["a version's conversations", () => world.bench.api('GET', `/conversations?versionUuid=${nowhere}&limit=20`)],
    ['annotations', () => world.bench.api('GET', `/conversations/${conversationUuid}/annotations`)],
    ['the queue of labels', () => world.bench.api('GET', `/projects/${projectId}/queue?evaluation=${evaluationUuid}`)],
    ['a new draft', () => world.bench.api('POST', big.replace('/live', ''), { body: { name: 'next' } })],
  ]
  it.each(asking)('%s', async (_what, ask) => {
    const { scanned, rowsRead } = await cold(() => ok(ask()))
    expect(scanned).toEqual([])
    expect(rowsRead).toBeLessThan(mostRowsRead)
  })

  it('further pages at any depth', async () => {
    const first = await ok(world.bench.api('GET', '/conversations?limit=100'))
    const next = `/conversations?limit=100&cursor=${encodeURIComponent(String(first.body['nextCursor']))}`
    const { scanned, rowsRead } = await readsDuring(() => ok(world.bench.api('GET', next)))
    expect(scanned).toEqual([])
    expect(rowsRead).toBeLessThan(mostRowsRead)
  })

  it.each([
    ['a write to a draft', 'POST', '/documents/create-or-update', { path: 'hello', prompt: 'x' }],
    ['a new prompt in a draft', 'POST', '/documents/get-or-create', { path: 'new' }],
    ['a prompt in a draft', 'GET', '/documents/hello', undefined],
    ['the changes of a draft', 'GET', '/diff', undefined],
    ['a revert of a draft', 'POST', '/revert', {}],
    ['a push to a draft', 'POST', '/push', { changes: [{ path: 'hello', status: 'modified', content: 'x' }] }],
    ['a deleted prompt in a draft', 'DELETE', '/documents/filling-7/prompt-7', undefined],
    ['a publication', 'POST', '/publish', {}],
  ])('%s', async (_what, method, path, body) => {
    draft ??= String(
      (await ok(world.bench.api('POST', big.replace('/live', ''), { body: { name: 'next' } }))).body['uuid'],
    )
    const { scanned, rowsRead } = await readsDuring(() =>
      ok(world.bench.api(method, big.replace('live', String(draft)) + path, { body })),
    )
    expect(scanned).toEqual([])
    expect(rowsRead).toBeLessThan(mostRowsRead)
  })
})

// The filled tables also derive uuids from the md5 of a name.
function versionUuid(number: number): string {
  const hex = createHash('md5').update(`version${number}`).digest('hex')
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}
