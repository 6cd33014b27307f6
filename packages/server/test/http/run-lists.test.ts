/**
 * Lists of runs and tags in a large project: each request reads a bounded number of keys, and the pages together have each
 * run once. `pnpm test:long` does it with 1,000,000 runs on both databases, and prints its times.
 */
import { createHash } from 'node:crypto'
import { RunPage } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { postgresLabelStore } from '../../src/adapters/database/stores/conversation-store.ts'
import { postgresRunRecordStore } from '../../src/adapters/database/stores/run-record-store.ts'
import { type RunPlace, tagScan } from '../../src/features/conversations/ports.ts'
import { count, isLong, report, seed, timeFor } from '../support/counts.ts'
import { seededRandom } from '../support/random.ts'
import { createTestProject, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
const { session } = server.database
/** What the routes search for. */
const search = vi.spyOn(server.deps.stores.runRecords, 'search')
afterAll(() => search.mockRestore())

const runs = count(8_000, 1_000_000)
const pairs = count(10, 50)
/** As long as 30 days, however many runs there are. */
const stepMs = Math.floor((30 * 86_400_000) / runs)
const batch = 2_000
/** The most runs that a search reads. Of few runs, the planner sorts all. */
const scan = count(runs, 5_000)
/** Keys that a search reads besides, such as the run of a cursor. */
const besides = 100
const pageSize = 50

let project: TestProject
let base: number
let prompts: Record<'a' | 'b', string>
let versionUuid: string
let author: number

/** The facts of each run follow from its number. The newest one has the largest. */
const facts = (at: number) => ({
  at,
  // A million hashes at once would keep the server of this process from its connections.
  get uuid() {
    return md5(`run ${at} ${project.id}`)
  },
  createdAt: base + at * stepMs,
  path: at % 500 === 0 ? 'b' : 'a',
  status: at % 50 === 7 ? 'error' : at % 50 === 9 ? 'stopped' : 'completed',
  model: at % 5_003 === 1 ? 'rare' : `model-${at % 4}`,
  via: at % 10 === 3 ? 'console' : at % 10 === 4 ? 'experiment' : 'api',
  isMine: at % 3 === 0,
  cost: (at * 31) % 3_000_000,
  durationMs: (at * 37) % 9_000,
  identifier: `customer-${at % 1_000}`,
  tags: [...(at % 10 === 0 ? ['often'] : []), ...(at % 1_009 === 5 ? ['rare'] : [])],
  feedback: at % 97 === 0 ? 'down' : at % 89 === 1 ? 'up' : null,
})
type Facts = ReturnType<typeof facts>

function md5(text: string): string {
  return createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

beforeAll(
  async () => {
    project = await createTestProject(api, { a: 'A', b: 'B' })
    versionUuid = project.draftUuid
    const { body } = await api<{ path: string; uuid: string }[]>('GET', `${project.live}/documents`)
    prompts = Object.fromEntries(body.map(({ path, uuid }) => [path, uuid])) as typeof prompts
    const { rows } = await session.query('SELECT author_id AS author FROM version WHERE uuid = $1', [versionUuid])
    author = Number(rows[0]?.['author'])
    base = Date.now() - 31 * 86_400_000
    for (let from = 1; from <= runs; from += batch) {
      // During a long checkpoint of the embedded database, statements are refused.
      await vi.waitFor(() => insert(from, Math.min(runs, from + batch - 1)), { interval: 1_000, timeout: 600_000 })
    }
    await session.query('ANALYZE conversation, run, conversation_tag')
  },
  timeFor(runs, 20),
)

async function insert(from: number, to: number): Promise<void> {
  const own = `md5('run ' || i || ' ${project.id}')::uuid`
  const startedAt = `'${new Date(base).toISOString()}'::timestamptz + i::bigint * ${stepMs} * interval '1 ms'`
  const via = `CASE i % 10 WHEN 3 THEN 'console' WHEN 4 THEN 'experiment' ELSE 'api' END`
  const status = `CASE i % 50 WHEN 7 THEN 'error' WHEN 9 THEN 'stopped' ELSE 'completed' END`
  const place = `p.workspace_id, p.id, '${versionUuid}'::uuid, (CASE WHEN i % 500 = 0 THEN '${prompts.b}' ELSE '${prompts.a}' END)::uuid`
  const source = `FROM project p, generate_series(${from}, ${to}) i WHERE p.id = ${project.id}`
  await session.script(
    `INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, custom_identifier,
       origin, via, config, status, created_at, updated_at)
     SELECT ${own}, ${place}, CASE WHEN i % 500 = 0 THEN 'b' ELSE 'a' END, 'hash', 'customer-' || i % 1000, 'run', ${via}, '{}',
       ${status}, ${startedAt}, ${startedAt} ${source} ON CONFLICT DO NOTHING;
     INSERT INTO run (uuid, conversation_uuid, workspace_id, project_id, version_uuid, document_uuid, author_id, epoch, status, mode,
       model, via, cost_nano, first_event_id, created_at, ended_at, result)
     SELECT ${own}, ${own}, ${place}, CASE WHEN i % 3 = 0 THEN ${author} END, 1, ${status}, 'json',
       CASE WHEN i % 5003 = 1 THEN 'rare' ELSE 'model-' || i % 4 END, ${via}, (i::bigint * 31) % 3000000, 1, ${startedAt},
       ${startedAt} + (i::bigint * 37) % 9000 * interval '1 ms', json_build_object('response', repeat('x', 700)) ${source} ON CONFLICT DO NOTHING;
     INSERT INTO conversation_tag (project_id, tag, at, conversation_uuid, author_id)
     SELECT ${project.id}, tag, ${startedAt}, ${own}, ${author}
     FROM generate_series(${from}, ${to}) i, unnest(ARRAY[CASE WHEN i % 10 = 0 THEN 'often' END, CASE WHEN i % 1009 = 5 THEN 'rare' END,
       CASE WHEN i % 97 = 0 THEN 'feedback:down' WHEN i % 89 = 1 THEN 'feedback:up' END]) tag
     WHERE tag IS NOT NULL ON CONFLICT DO NOTHING`,
  )
}

afterAll(async () => {
  // In a long run, no other file uses this database.
  if (isLong) return
  for (const table of ['conversation_tag', 'run', 'conversation'])
    await session.query(`DELETE FROM ${table} WHERE project_id = $1`, [project.id])
})

interface Filter {
  query: Record<string, string>
  matches: (run: Facts) => boolean
}

const filters = (): Record<string, Filter> => ({
  all: { query: { via: 'all' }, matches: () => true },
  failed: { query: { status: 'error' }, matches: ({ status }) => status === 'error' },
  stopped: { query: { status: 'stopped' }, matches: ({ status }) => status === 'stopped' },
  prompt: { query: { documentUuid: prompts.b }, matches: ({ path }) => path === 'b' },
  path: { query: { path: 'b' }, matches: ({ path }) => path === 'b' },
  version: { query: { versionUuid }, matches: () => true },
  'rare model': { query: { model: 'rare' }, matches: ({ model }) => model === 'rare' },
  model: { query: { model: 'model-2' }, matches: ({ model }) => model === 'model-2' },
  console: { query: { via: 'console' }, matches: ({ via }) => via === 'console' },
  mine: { query: { author: 'me' }, matches: ({ isMine }) => isMine },
  identifier: { query: { customIdentifier: 'customer-77' }, matches: ({ identifier }) => identifier === 'customer-77' },
  expensive: { query: { minCost: '0.00299' }, matches: ({ cost }) => cost >= 2_990_000 },
  slow: { query: { minDurationMs: '8990' }, matches: ({ durationMs }) => durationMs >= 8_990 },
  tag: { query: { tag: 'often' }, matches: ({ tags }) => tags.includes('often') },
  'rare tag': { query: { tag: 'rare' }, matches: ({ tags }) => tags.includes('rare') },
  'thumbs down': { query: { feedback: 'down' }, matches: ({ feedback }) => feedback === 'down' },
  from: {
    query: { from: new Date(base + Math.floor(runs / 2) * stepMs).toISOString() },
    matches: ({ at }) => at >= Math.floor(runs / 2),
  },
  to: {
    query: { to: new Date(base + Math.floor(runs / 2) * stepMs).toISOString() },
    matches: ({ at }) => at <= Math.floor(runs / 2),
  },
})

const isListed = ({ query, matches }: Filter, run: Facts) =>
  (query['via'] !== undefined || run.via !== 'experiment') && matches(run)

async function page(query: Record<string, string>): Promise<wire.RunPage> {
  const answer = await api('GET', `/projects/${project.id}/runs?${new URLSearchParams(query).toString()}`)
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return RunPage.parse(answer.body)
}

type Client = Parameters<typeof postgresRunRecordStore>[0]

/**
 * Returns the entries of indexes that `work` reads of runs and tags, and the rows that it reads by scans of whole tables. In
 * a transaction: connections write their counts for others a second late. Processes of a parallel scan would not count.
 */
async function counted<T>(work: (client: Client) => Promise<T>): Promise<{ result: T; keys: number }> {
  return (server.database.client as PrismaClient).$transaction(
    async (client) => {
      await client.$executeRawUnsafe('SET LOCAL max_parallel_workers_per_gather = 0')
      return countedIn(client, () => work(client))
    },
    { timeout: 120_000 },
  )
}

async function countedIn<T>(client: Client, work: () => Promise<T>): Promise<{ result: T; keys: number }> {
  const keys = async () => {
    const [sum] = await client.$queryRaw<{ read: number }[]>`
      SELECT sum(pg_stat_get_xact_tuples_returned(oid))::float8 AS read FROM pg_class
      WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace
        AND (relname LIKE 'run\_%' OR relname LIKE 'conversation\_tag%' OR relname IN ('run', 'conversation'))`
    return sum?.read ?? 0
  }
  const before = await keys()
  const result = await work()
  return { result, keys: (await keys()) - before }
}

/** The entries of indexes that a search reads for a run: that of its tag, and that of its feedback too. */
const entriesOf = ({ tag, feedback }: Record<string, string>) =>
  1 + (tag || feedback ? 1 : 0) + (tag && feedback ? 1 : 0)

const times: number[] = []
/** Processor time of the server, this client and the embedded database, which other programs do not change. */
const cpuTimes: number[] = []
let mostKeys = 0

/** Expects the first two pages to have all matching runs down to where they stopped, and few keys to be read for each. */
async function expectPages(filter: Filter): Promise<void> {
  const { query } = filter
  let at = runs
  let cursor: string | null | undefined
  for (let turn = 0; turn < 2 && cursor !== null; turn += 1) {
    search.mockClear()
    const startedAt = performance.now()
    const cpuBefore = process.cpuUsage()
    const { items, nextCursor, scannedTo } = await page({
      ...query,
      limit: String(pageSize),
      ...(cursor && { cursor }),
    })
    times.push(performance.now() - startedAt)
    const { user, system } = process.cpuUsage(cpuBefore)
    cpuTimes.push((user + system) / 1_000)
    // The same search again, in a transaction that counts what it reads.
    const [searched, ...others] = search.mock.calls
    if (!searched || others.length > 0) throw new Error(`The route searched ${search.mock.calls.length} times`)
    const { keys } = await counted((client) => postgresRunRecordStore(client).search(...searched))
    expect(keys, JSON.stringify(query)).toBeLessThanOrEqual(scan * entriesOf(query) + besides)
    mostKeys = Math.max(mostKeys, keys)
    const end = scannedTo === null ? base : Date.parse(scannedTo)
    const expected: string[] = []
    for (; at > 0 && base + at * stepMs >= end; at -= 1) {
      const run = facts(at)
      if (isListed(filter, run)) expected.push(run.uuid)
    }
    expect(
      items.map(({ uuid }) => uuid),
      JSON.stringify(query),
    ).toEqual(expected)
    cursor = nextCursor
  }
}

it(
  `each filter, and ${pairs} pairs of them, read at most 5,000 runs for a page`,
  async () => {
    const known = Object.values(filters())
    const random = seededRandom(seed)
    const one = () => known[Math.floor(random() * known.length)] as Filter
    for (const filter of known) await expectPages(filter)
    for (let pair = 0; pair < pairs; pair += 1) {
      const [first, second] = [one(), one()]
      // A field that both have has the value of the second one.
      const isSame = Object.keys(first.query).some((name) => name in second.query)
      const matches = isSame ? second.matches : (run: Facts) => first.matches(run) && second.matches(run)
      const query = isSame ? second.query : { ...first.query, ...second.query }
      await expectPages({ query, matches })
    }
    const share = (all: readonly number[], part: number) =>
      Math.round(all.toSorted((a, b) => a - b)[Math.floor(part * all.length)] ?? 0)
    report('lists of runs, ms', {
      ...{ runs, pages: times.length, p50: share(times, 0.5), p95: share(times, 0.95), mostKeys },
      ...{ cpuP50: share(cpuTimes, 0.5), cpuP95: share(cpuTimes, 0.95) },
    })
  },
  timeFor(136, 10_000),
)

it(
  'all pages together have each run once, while others arrive',
  async () => {
    let added = 0
    for (const name of ['failed', 'rare tag', 'expensive', 'rare model'] as const) {
      const filter = filters()[name] as Filter
      const found: string[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const { items, nextCursor } = await page({ ...filter.query, limit: '100', ...(cursor && { cursor }) })
        found.push(...items.map(({ uuid }) => uuid))
        cursor = nextCursor
        if (added < 200) {
          added += 50
          await insert(runs + added - 49, runs + added)
        }
      }
      // Runs that arrived before the first page are on it.
      const arrived = new Set(Array.from({ length: added }, (_, at) => facts(runs + at + 1).uuid))
      const old = found.filter((uuid) => !arrived.has(uuid))
      const expected = Array.from({ length: runs }, (_, at) => facts(runs - at)).filter((run) => isListed(filter, run))
      expect(old).toEqual(expected.map(({ uuid }) => uuid))
      expect(new Set(found).size).toBe(found.length)
    }
    expect(added).toBe(200)
  },
  timeFor(runs, 4),
)

it('a list by a tag reads a bounded number of keys, even if the planner takes the tag for rare', async () => {
  const [logs, tagged] = [5_500, 8_000]
  const rolledBack = new Error('rolled back')
  const client = server.database.client as PrismaClient
  const work = client.$transaction(async (rows) => {
    // Processes of a parallel scan do not count in this transaction, whose rows are in no statistics of the planner.
    await rows.$executeRawUnsafe('SET LOCAL max_parallel_workers_per_gather = 0')
    const own = `md5('new ' || i || ' ${project.id}')::uuid`
    const place = `p.workspace_id, p.id, '${versionUuid}'::uuid, '${prompts.a}'::uuid`
    const at = `now() - i * interval '1 s'`
    const source = (from: number) => `FROM project p, generate_series(${from}, ${tagged}) i WHERE p.id = ${project.id}`
    await rows.$executeRawUnsafe(
      `INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, origin, config,
         status, created_at, updated_at)
       SELECT ${own}, ${place}, 'a', 'hash', 'run', '{}', 'completed', ${at}, ${at} ${source(1)}`,
    )
    // The newest conversations are external logs, which have no runs.
    await rows.$executeRawUnsafe(
      `INSERT INTO run (uuid, conversation_uuid, workspace_id, project_id, version_uuid, document_uuid, epoch, status, mode,
         first_event_id, created_at, ended_at)
       SELECT ${own}, ${own}, ${place}, 1, 'completed', 'json', 1, ${at}, ${at} ${source(logs + 1)}`,
    )
    await rows.$executeRawUnsafe(
      `INSERT INTO conversation_tag (project_id, tag, at, conversation_uuid, author_id)
       SELECT p.id, 'new', ${at}, ${own}, ${author} ${source(1)}`,
    )
    const store = postgresRunRecordStore(rows)
    const found: string[] = []
    const read: number[] = []
    let after: RunPlace | undefined
    do {
      const page = { limit: 10_000, ...(after && { after }) }
      const { result, keys } = await countedIn(rows, () => store.search(project.id, { tag: 'new', via: 'all' }, page))
      read.push(keys)
      found.push(...result.places.map(({ uuid }) => uuid))
      after = result.bound ?? undefined
    } while (after)
    expect(found).toHaveLength(tagged - logs)
    expect(new Set(found).size).toBe(tagged - logs)
    // A tag and a run for each conversation.
    expect(Math.max(...read)).toBeLessThanOrEqual(2 * 5_000 + 100)
    expect(read).toHaveLength(2)
    throw rolledBack
  })
  await expect(work).rejects.toBe(rolledBack)
})

it('the tags of a large project are counted from at most 20,000 of them', async () => {
  const startedAt = performance.now()
  const { body } = await api<wire.TagUse[]>('GET', `/projects/${project.id}/tags`)
  const ms = Math.round(performance.now() - startedAt)
  expect(body.map(({ tag }) => tag)).toEqual(['often', 'rare'])
  const monthAgo = new Date(Date.now() - 30 * 86_400_000)
  const { keys } = await counted((client) => postgresLabelStore(client).listUses(project.id, monthAgo, 200))
  expect(keys).toBeLessThanOrEqual(tagScan)
  report('the list of tags, ms', { runs, ms, keys })
})
