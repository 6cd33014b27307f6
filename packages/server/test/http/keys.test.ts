import { ApiKey, CreatedApiKey, Me } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, openServer, openTenant } from './scenario.ts'

let server: TestServer
let api: Api
let key: string

beforeAll(async () => {
  ;({ server, api, key } = await openServer())
})
afterAll(() => server.close())

describe('API keys', () => {
  it('/me returns key, workspace and limit, but no secret', async () => {
    const { status, body, text } = await api('GET', '/me')
    expect(status).toBe(200)
    expect(Me.parse(body)).toEqual(body)
    expect(body).toMatchObject({ rateLimit: { windowSeconds: 1 }, apiKey: { prefix: key.slice(0, 9) } })
    expect(text).not.toContain(key)
  })

  it('show their secret once', async () => {
    const created = await api('POST', '/api-keys', { body: { name: 'ci' } })
    expect(created.status).toBe(201)
    const { key, ...apiKey } = CreatedApiKey.parse(created.body)
    expect(key).toMatch(/^stet_[0-9A-Za-z]{36}$/)
    expect(apiKey).toMatchObject({
      scopes: ['read', 'run', 'write', 'publish'],
      plan: 'team',
      limit: 166,
      projectId: null,
    })
    const list = await api('GET', '/api-keys')
    expect(list.text).not.toContain(key)
    expect((list.body as unknown as wire.ApiKey[])[0]).toEqual(apiKey)
  })

  it("identify the author: resources show the creating key's name, even after a rotation", async () => {
    const issue = async () =>
      CreatedApiKey.parse((await api('POST', '/api-keys', { body: { name: 'Ana Díaz · laptop' } })).body)
    const [first, second] = [await issue(), await issue()]
    expect(first.author).toMatchObject({ name: 'Ana Díaz · laptop', email: 'ana-diaz-laptop@localhost' })
    expect(second.author).toEqual(first.author)
    const rotated = CreatedApiKey.parse((await api('POST', `/api-keys/${first.id}/rotate`)).body)
    const project = await api('POST', '/projects', { key: rotated.key, body: { name: 'of ana' } })
    expect(project.body).toMatchObject({ version: { authorId: first.author.id, authorName: 'Ana Díaz · laptop' } })
    const own = Me.parse((await api('GET', '/me')).body).apiKey
    const again = CreatedApiKey.parse((await api('POST', '/api-keys', { body: { name: own.author.name } })).body)
    expect(again.author).toEqual(own.author)
  })

  it('show when they were last used', async () => {
    const before = Date.now()
    const { id, key, lastUsedAt } = CreatedApiKey.parse(
      (await api('POST', '/api-keys', { body: { name: 'used' } })).body,
    )
    const listed = async () => {
      const list = (await api<wire.ApiKey[]>('GET', '/api-keys')).body
      return list.find((each) => each.id === id)?.lastUsedAt
    }
    expect([lastUsedAt, await listed()]).toEqual([null, null])
    expect((await api('GET', '/me', { key })).status).toBe(200)
    await expect.poll(listed).not.toBeNull()
    const usedAt = Date.parse(String(await listed()))
    expect(usedAt).toBeGreaterThanOrEqual(before)
    expect(usedAt).toBeLessThanOrEqual(Date.now())
  })

  it('are revoked idempotently', async () => {
    const { id } = CreatedApiKey.parse((await api('POST', '/api-keys', { body: { name: 'gone' } })).body)
    const revoked = ApiKey.parse((await api('DELETE', `/api-keys/${id}`)).body)
    expect(revoked.revokedAt).not.toBeNull()
    expect((await api('DELETE', `/api-keys/${id}`)).body).toEqual(revoked)
  })

  it('expire in the future, at the end of 9999 at the latest', async () => {
    for (const expiresAt of ['2001-01-01T00:00:00.000Z', 'tomorrow', '9999-12-31T23:59:59-00:01']) {
      const answer = await api('POST', '/api-keys', { body: { name: 'x', expiresAt } })
      expect(refusalOf(answer)).toEqual({ status: 400, reason: 'invalid-body', path: 'expiresAt' })
    }
    const expiresAt = '9999-12-31T23:59:59.999Z'
    expect(await api('POST', '/api-keys', { body: { name: 'x', expiresAt } })).toMatchObject({ body: { expiresAt } })
    expect((await api('GET', '/api-keys')).status).toBe(200)
  })
})

async function issue(body: Record<string, unknown> = {}): Promise<wire.CreatedApiKey> {
  return CreatedApiKey.parse((await api('POST', '/api-keys', { body: { name: 'ci', ...body } })).body)
}

async function rotate(id: number, body: Record<string, unknown> = {}): Promise<wire.CreatedApiKey> {
  const answer = await api('POST', `/api-keys/${id}/rotate`, { body })
  expect(answer.status, answer.text).toBe(201)
  return CreatedApiKey.parse(answer.body)
}

const statusOf = async (key: string) => (await api('GET', '/me', { key })).status

async function listed(id: number): Promise<wire.ApiKey | undefined> {
  const keys = (await api<wire.ApiKey[]>('GET', '/api-keys')).body
  return keys.find((key) => key.id === id)
}

describe('rotation of an API key', () => {
  it('creates a key with the same rights, and the old one stops working immediately', async () => {
    const expiresAt = '2099-01-01T00:00:00.000Z'
    const old = await issue({ scopes: ['read', 'run'], projectId: 1, plan: 'custom', limit: 77, expiresAt })
    expect(await statusOf(old.key)).toBe(200)
    const { id, key, prefix, createdAt, ...same } = await rotate(old.id)
    const { id: oldId, key: oldKey, prefix: _prefix, createdAt: _createdAt, ...expected } = old
    expect(same).toEqual(expected)
    expect(id).not.toBe(oldId)
    expect([await statusOf(key), await statusOf(oldKey)]).toEqual([200, 401])
    expect((await listed(oldId))?.revokedAt).not.toBeNull()
    expect(prefix).toBe(key.slice(0, 9))
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(Date.parse(old.createdAt))
  })

  it('keeps the old key valid during the overlap', async () => {
    const old = await issue()
    const before = Date.now()
    const { key, expiresAt } = await rotate(old.id, { overlapSeconds: 600 })
    expect([await statusOf(key), await statusOf(old.key)]).toEqual([200, 200])
    const found = await listed(old.id)
    expect(found?.revokedAt).toBeNull()
    const end = Date.parse(String(found?.expiresAt))
    expect(end).toBeGreaterThanOrEqual(before + 600_000)
    expect(end).toBeLessThanOrEqual(Date.now() + 600_000)
    expect(expiresAt).toBeNull()
  })

  it("never extends the old key's expiry", async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const old = await issue({ expiresAt })
    await rotate(old.id, { overlapSeconds: 604_800 })
    expect((await listed(old.id))?.expiresAt).toBe(expiresAt)
  })

  it('works for the calling key, even for the last admin key', async () => {
    const key = await openTenant(server, 'rotation')
    const only = apiCaller(server.url, key)
    const { apiKey } = Me.parse((await only('GET', '/me')).body)
    const answer = await only('POST', `/api-keys/${apiKey.id}/rotate`)
    const successor = CreatedApiKey.parse(answer.body)
    expect(successor.scopes).toEqual(['admin'])
    expect([await statusOf(key), await statusOf(successor.key)]).toEqual([401, 200])
  })

  it('has one winner if several callers rotate a key concurrently', async () => {
    const old = await issue()
    const answers = await Promise.all([1, 2, 3].map(() => api('POST', `/api-keys/${old.id}/rotate`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
})

describe('provider keys', () => {
  const entry = { name: 'Main', provider: 'openai', token: 'sk-0123456789abcdefwxyz' }

  it('are stored, masked, changed and deleted', async () => {
    const created = await api('POST', '/provider-api-keys', { body: entry })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      name: 'Main',
      provider: 'openai',
      token: 'sk-********wxyz',
      url: null,
      configuration: {},
    })
    const path = `/provider-api-keys/${String(created.body['id'])}`
    expect((await api('GET', path)).body).toEqual(created.body)
    const updated = await api('PUT', path, { body: { defaultModel: 'gpt-4o' } })
    expect(updated.body).toMatchObject({ name: 'Main', defaultModel: 'gpt-4o', token: 'sk-********wxyz' })
    expect((await api('PUT', path, { body: { defaultModel: '' } })).body).toMatchObject({ defaultModel: null })
    const deleted = await api('DELETE', path)
    expect(deleted.body).toMatchObject({ name: 'Main', token: 'sk-********wxyz' })
    expect((await api('GET', path)).status).toBe(404)
  })
})
