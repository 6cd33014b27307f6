import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { applyRetention } from '../../src/features/conversations/deletion/delete-conversations.ts'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import { tablesHolding } from '../support/stored-text.ts'
import { createTestProject } from './scenario.ts'

const prompts = { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') }

let bench: RunBench
let projectId: number
beforeAll(async () => {
  bench = await runBench(prompts, { STET_RETENTION_DAYS: '30' })
  projectId = Number(/\d+/.exec(bench.live)?.[0])
})
afterAll(() => bench.close())

const sql = async (text: string, params: unknown[]) => (await bench.server.database.session.query(text, params)).rows
const apply = () => applyRetention(bench.server.deps)

/** Creates a conversation with the given ages in days, on the database's clock. */
async function conversation(days: { created: number; ended: number }, live = bench.live): Promise<string> {
  bench.fake.enqueue({ text: 'fine' })
  const ran = await bench.api('POST', `${live}/documents/run`, { body: { path: 'hello' } })
  const uuid = String(ran.body['uuid'])
  await age(uuid, days)
  return uuid
}

async function age(uuid: string, { created, ended }: { created: number; ended: number }): Promise<void> {
  await sql(
    `UPDATE conversation SET created_at = now() - $2::int * interval '1 day',
       updated_at = now() - $3::int * interval '1 day' WHERE uuid = $1::uuid`,
    [uuid, created, ended],
  )
}

async function isThere(uuid: string): Promise<boolean> {
  const { status } = await bench.api('GET', `/conversations/${uuid}`)
  expect([200, 404]).toContain(status)
  return status === 200
}

it('deletes conversations that ended before the retention time, and keeps newer ones', async () => {
  const old = await conversation({ created: 40, ended: 31 })
  const continued = await conversation({ created: 400, ended: 29 })
  const recent = await conversation({ created: 1, ended: 1 })
  expect(await apply()).toBe(1)
  expect(await Promise.all([old, continued, recent].map(isThere))).toEqual([false, true, true])
  await expect.poll(() => tablesHolding(bench.server, old)).toEqual([])
  expect(await apply()).toBe(0)
})

it("lets a project's value override the server's in both directions, until it is reset", async () => {
  const change = (retentionDays: number | null) =>
    bench.api('PUT', `/projects/${projectId}`, { body: { retentionDays } })
  const elsewhere = await createTestProject(bench.api, prompts)
  expect((await change(60)).body).toMatchObject({ retentionDays: 60 })
  const [kept, other] = [
    await conversation({ created: 50, ended: 50 }),
    await conversation({ created: 50, ended: 50 }, elsewhere.live),
  ]
  expect(await apply()).toBe(1)
  expect(await Promise.all([kept, other].map(isThere))).toEqual([true, false])
  expect((await change(5)).body).toMatchObject({ retentionDays: 5 })
  const younger = await conversation({ created: 6, ended: 6 })
  // The third one is the continued conversation of the previous test.
  expect(await apply()).toBe(3)
  expect(await Promise.all([kept, younger].map(isThere))).toEqual([false, false])
  expect((await change(null)).body).toMatchObject({ retentionDays: null })
  expect(await isThere(await conversation({ created: 6, ended: 6 }))).toBe(true)
  expect(await apply()).toBe(0)
  const created = await bench.api('POST', '/projects', { body: { name: 'short', retentionDays: 7 } })
  expect(created.body['project']).toMatchObject({ retentionDays: 7 })
})

it('never deletes active conversations, and works in several batches', async () => {
  bench.fake.enqueue({ deltas: ['half'], hang: 'mid-stream' })
  const calls = bench.fake.requests.length
  const active = await bench.background('hello')
  await bench.fake.waitForRequest(calls + 1)
  await age(active, { created: 100, ended: 100 })
  const old = await conversation({ created: 100, ended: 100 })
  await sql(
    `INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, origin,
       config, status, created_at, updated_at)
     SELECT gen_random_uuid(), workspace_id, project_id, version_uuid, document_uuid, path, content_hash, 'log', config,
       'completed', created_at, updated_at FROM conversation, generate_series(1, 700) WHERE uuid = $1::uuid`,
    [old],
  )
  expect(await apply()).toBe(701)
  expect(await isThere(active)).toBe(true)
  await bench.stop(active)
})

it('keeps everything if neither the server nor the project has a retention time', async () => {
  const { deps } = bench.server
  const runs = { ...deps.runs, settings: { ...deps.runs.settings, retentionDays: 0 } }
  const old = await conversation({ created: 3_000, ended: 3_000 })
  expect(await applyRetention({ ...deps, runs })).toBe(0)
  expect(await isThere(old)).toBe(true)
  expect(await isThere(randomUUID())).toBe(false)
})
