import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { claimFor, dropOldRecords } from '../../src/features/idempotency/idempotency-key.ts'
import type { TestServer } from '../support/test-server.ts'
import type { ApiAnswer } from './api-call.ts'
import { contractRoutes, fill, type WalkedRoute } from './contract-routes.ts'
import { successOf } from './declared-errors/requests.ts'
import { openWorld, type World } from './declared-errors/world.ts'
import { countRows } from './foreign-ids.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, issueKey, type TestProject } from './scenario.ts'

let world: World
let server: TestServer
let api: Api
let project: TestProject
let apiKeyId: number
let conversationUuid: string

beforeAll(async () => {
  world = await openWorld()
  ;({ project, conversationUuid } = world)
  ;({ server, api } = world.bench)
  apiKeyId = ((await api('GET', '/me')).body['apiKey'] as { id: number }).id
})
afterAll(() => world.close())

const sql = async (text: string, params: unknown[] = []) => (await server.database.session.query(text, params)).rows

function post(path: string, key: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  return api('POST', path, { body, headers: { 'idempotency-key': key, ...headers } })
}

/** Without what the runs of stopped and resumed experiments still store. */
async function rowCounts(): Promise<unknown> {
  // Scores of experiments are stored until they have ended.
  const running = () =>
    sql("SELECT uuid FROM experiment WHERE state = 'running' UNION ALL SELECT uuid FROM run WHERE ended_at IS NULL")
  await vi.waitUntil(async () => (await running()).length === 0, { timeout: 120_000 })
  const all = Object(await countRows(server))
  const { idempotency_record: _records, instance: _instances, run_day: _sums, ...counts } = all
  const ofCaller = (table: string) => `(SELECT count(*)::int FROM ${table} WHERE via <> 'experiment') AS ${table}`
  const [ofCallers] = await sql(`SELECT ${['conversation', 'run', 'run_figure'].map(ofCaller).join(', ')}`)
  return { ...counts, ...ofCallers }
}

/** Runs and chats have tests of their own in `runs/idempotency`. */
const creating = contractRoutes.filter(({ metadata }) => metadata.idempotent && !metadata.streams)

/** A request that creates something, as often as it is sent with another key. */
async function creationOf(route: WalkedRoute) {
  const { ids, body } = await successOf(world, route)
  const path = fill(route.path, ids)
  // Reverting an unchanged draft changes nothing.
  if (route.name === 'versions.revert')
    await api('POST', path.replace('/revert', '/documents'), { body: { path: randomUUID(), prompt: 'Hi' } })
  return { path, body }
}

describe.each(creating.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  it('does its work once and replays the response for repeated requests', async () => {
    const { path, body } = await creationOf(route)
    const key = randomUUID()
    const first = await post(path, key, body)
    expect(route.successes, first.text).toContain(first.status)
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    const rows = await rowCounts()
    for (const repetition of [await post(path, key, body), await post(`${path}/`, key, body)]) {
      expect(repetition).toMatchObject({ status: first.status, text: first.text })
      expect(repetition.headers.get('idempotency-replayed')).toBe('true')
      for (const name of ['etag', 'cache-control', 'content-type']) {
        expect(repetition.headers.get(name)).toBe(first.headers.get(name))
      }
    }
    expect(await rowCounts()).toEqual(rows)
  })

  it('commits its work and the stored response together', async () => {
    const { path, body = {} } = await creationOf(route)
    const key = randomUUID()
    const { id } = claimFor({ apiKeyId, method: 'POST', path: `/api/v3${path}`, key, body })
    const everything = async () => [
      await rowCounts(),
      await sql('SELECT id, number, updated_at FROM version ORDER BY id'),
      await sql('SELECT id, revoked_at FROM api_key ORDER BY id'),
    ]
    const rows = await everything()
    // Simulates another process that takes over the record while this one stores its response.
    await sql(`CREATE OR REPLACE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.answer IS NOT NULL THEN RETURN NULL; END IF; RETURN NEW; END $$`)
    await sql(`CREATE TRIGGER steal BEFORE UPDATE ON idempotency_record FOR EACH ROW
      WHEN (NEW.id = '${id}') EXECUTE FUNCTION steal()`)
    expect(await post(path, key, body)).toMatchObject({ status: 409, body: { reason: 'idempotency-in-progress' } })
    await sql('DROP TRIGGER steal ON idempotency_record')
    expect(await everything()).toEqual(rows)
    expect(route.successes).toContain((await post(path, key, body)).status)
  })
})

it('returns 409 while another process works on the request, and takes over from a dead process', async () => {
  const { path, body } = { path: '/projects', body: { name: 'p' } }
  const key = randomUUID()
  const address = `/api/v3${path}`
  const { id, requestHash } = claimFor({ apiKeyId, method: 'POST', path: address, key, body })
  const owner = randomUUID()
  await sql(`INSERT INTO instance (id, lease_until) VALUES ($1, now() + interval '1 hour')`, [owner])
  await sql('INSERT INTO idempotency_record (id, request_hash, owner_id) VALUES ($1, $2, $3)', [id, requestHash, owner])
  const busy = await post(path, key, body)
  expect(busy).toMatchObject({ status: 409, body: { name: 'ConflictError', reason: 'idempotency-in-progress' } })
  expect(busy.headers.get('retry-after')).toBe('1')
  expect((await post(path, key, { ...body, more: 1 })).status).toBe(422)

  await sql(`UPDATE instance SET lease_until = now() - interval '1 second' WHERE id = $1`, [owner])
  const done = await post(path, key, body)
  expect([200, 201], done.text).toContain(done.status)
  expect(done.headers.has('idempotency-replayed')).toBe(false)
  expect(await post(path, key, body)).toMatchObject({ text: done.text })
})

describe('idempotency key', () => {
  const project1 = { name: 'x' }

  it('has 1 to 255 printable ASCII characters, and is checked after the body', async () => {
    for (const key of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb']) {
      const refusal = refusalOf(await post('/projects', key, project1))
      expect(refusal).toEqual({ status: 400, reason: 'invalid-idempotency-key', path: 'Idempotency-Key' })
    }
    for (const key of ['x', ' inner space ', '~'.repeat(255)]) {
      expect((await post('/projects', key, project1)).status).toBe(201)
    }
    const invalid = refusalOf(await post('/projects', '', { name: '' }))
    expect(invalid).toEqual({ status: 400, reason: 'invalid-body', path: 'name' })
  })

  it('is checked before the project', async () => {
    expect((await post('/projects/2000000000/versions', '', { name: 'v' })).status).toBe(400)
    expect((await post('/projects/none/versions/live/documents/run', '', { path: 'a' })).status).toBe(400)
  })

  it('is ignored by requests that create nothing, and on GET, PUT and DELETE', async () => {
    const key = 'x'.repeat(300)
    const headers = { 'idempotency-key': key }
    expect((await post('/tools/results', key, { toolCallId: 'none' })).status).toBe(404)
    expect((await post(`/conversations/${conversationUuid}/stop`, key)).status).toBe(200)
    expect((await post(`/conversations/${conversationUuid}/attach`, key)).status).toBe(200)
    expect((await api('GET', '/projects', { headers })).status).toBe(200)
    expect((await api('PUT', `/projects/${project.id}`, { body: {}, headers })).status).toBe(200)
  })

  it('treats every spelling of the same JSON value alike', async () => {
    const key = randomUUID()
    const path = '/evaluations'
    const first = await post(
      path,
      key,
      `{"projectId": ${project.id}, "name": "e", "metric": "binary", "configuration": {"reverseScale": true, "criteria": "é"}}`,
    )
    const again = await post(
      path,
      key,
      `{"configuration":{"criteria":"\\u00e9","reverseScale":true},"metric":"binary","name":"e","projectId":${project.id}.0}`,
    )
    expect(again).toMatchObject({ status: 201, text: first.text })
    expect((await post(path, key, `{"projectId":${project.id},"name":"f","metric":"binary"}`)).status).toBe(422)
  })

  it('is scoped to one API key, one method and one path', async () => {
    const key = randomUUID()
    const foreign = await issueKey(api, { scopes: ['admin'] })
    const headers = { 'idempotency-key': key }
    const versions = `/projects/${project.id}/versions`
    const uuids = [
      (await post(versions, key, { name: 'v' })).body['uuid'],
      (await api('POST', versions, { body: { name: 'w' }, headers, key: foreign })).body['uuid'],
    ]
    expect(new Set(uuids).size).toBe(2)
    const other = await post('/projects', key, { name: 'another body' })
    expect(other.status).toBe(201)
    expect(other.headers.has('idempotency-replayed')).toBe(false)
  })

  it('can be used again after 24 hours', async () => {
    const key = randomUUID()
    const first = await post('/projects', key, project1)
    await sql(`UPDATE idempotency_record SET created_at = now() - interval '23 hours 59 minutes'`)
    await dropOldRecords(server.deps)
    expect((await post('/projects', key, project1)).text).toBe(first.text)
    await sql(`UPDATE idempotency_record SET created_at = now() - interval '24 hours 1 second'`)
    await dropOldRecords(server.deps)
    expect(await sql('SELECT id FROM idempotency_record')).toEqual([])
    const later = await post('/projects', key, project1)
    expect(later.status).toBe(201)
    expect(later.text).not.toBe(first.text)
  })
})

describe('stored response', () => {
  it('is never a 400, 404, 409 or 412, because the same request may succeed later', async () => {
    const draft = await project.newDraft()
    const key = randomUUID()
    const update = { path: 'late', prompt: 'x' }
    const updating = () => post(`${draft}/documents/create-or-update`, key, update, { 'if-match': '*' })
    expect((await updating()).status).toBe(412)
    expect((await post(`${draft}/documents/create-or-update`, key, { ...update, baseHash: 'x' })).status).toBe(409)
    await api('POST', `${draft}/documents`, { body: { path: 'late', prompt: 'y' } })
    expect((await updating()).status).toBe(200)

    const evaluationPath = `/conversations/${conversationUuid}/evaluations/${randomUUID()}/annotate`
    for (const _ of [1, 2]) {
      const unknown = await post(evaluationPath, key, { score: 1 })
      expect(unknown.status).toBe(404)
      expect(unknown.headers.has('idempotency-replayed')).toBe(false)
    }
    expect((await post(`${project.live}/push`, key, { changes: [] })).status).toBe(400)
    expect((await post(`${project.live}/push`, key, { changes: [] })).headers.has('idempotency-replayed')).toBe(false)
  })

  it('can be a 422, even if its cause has since been fixed', async () => {
    const draft = await project.newDraft()
    const save = (prompt: string) => api('POST', `${draft}/documents/create-or-update`, { body: { path: 'a', prompt } })
    await save('{{ broken')
    const key = randomUUID()
    const refused = await post(`${draft}/publish`, key)
    expect(refused).toMatchObject({ status: 422, body: { name: 'UnprocessableEntityError' } })
    await save('---\nprovider: demo\n---\nFixed')
    const again = await post(`${draft}/publish`, key)
    expect(again).toMatchObject({ status: 422, text: refused.text })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await post(`${draft}/publish`, randomUUID())).status).toBe(200)
  })

  it("contains no plain-text secret: a new API key's record is encrypted, and a repeated request returns the key", async () => {
    const key = randomUUID()
    const created = await post('/api-keys', key, { name: 'sealed' })
    const secret = String(created.body['key'])
    expect(secret).toMatch(/^stet_/)
    expect((await post('/api-keys', key, { name: 'sealed' })).body['key']).toBe(secret)
    const rotating = `/api-keys/${String(created.body['id'])}/rotate`
    const rotated = await post(rotating, key)
    expect((await post(rotating, key)).text).toBe(rotated.text)
    const stored = JSON.stringify(await sql('SELECT * FROM idempotency_record'))
    for (const clear of [secret, String(rotated.body['key']), secret.slice(5)]) expect(stored).not.toContain(clear)
    expect((await api('GET', '/me', { key: String(rotated.body['key']) })).status).toBe(200)
  })
})

it('promise 15: 100 concurrent duplicates create one resource', async () => {
  const key = randomUUID()
  const before = (await sql('SELECT count(*)::int AS n FROM project'))[0]
  const answers = await Promise.all(Array.from({ length: 100 }, () => post('/projects', key, { name: 'one of many' })))
  const made = answers.filter(({ status }) => status === 201)
  const busy = answers.filter(({ status }) => status === 409)
  expect(made.length + busy.length).toBe(100)
  expect(made.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1)
  expect(new Set(made.map(({ text }) => text)).size).toBe(1)
  for (const { headers, body } of busy) {
    expect(headers.get('retry-after')).toBe('1')
    expect(body).toMatchObject({ reason: 'idempotency-in-progress' })
  }
  expect(await sql('SELECT count(*)::int AS n FROM project')).toEqual([{ n: Number(before?.['n']) + 1 }])
})
