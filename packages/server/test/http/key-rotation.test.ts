import { type ApiKey, CreatedApiKey, Me } from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, openServer, openTenant } from './scenario.ts'

let server: TestServer
let api: Api

beforeAll(async () => {
  ;({ server, api } = await openServer())
})
afterAll(() => server.close())

async function issue(body: Record<string, unknown> = {}): Promise<CreatedApiKey> {
  return CreatedApiKey.parse((await api('POST', '/api-keys', { body: { name: 'ci', ...body } })).body)
}

async function rotate(id: number, body: Record<string, unknown> = {}): Promise<CreatedApiKey> {
  const answer = await api('POST', `/api-keys/${id}/rotate`, { body })
  expect(answer.status, answer.text).toBe(201)
  return CreatedApiKey.parse(answer.body)
}

const statusOf = async (key: string) => (await api('GET', '/me', { key })).status

async function listed(id: number): Promise<ApiKey | undefined> {
  const keys = (await api('GET', '/api-keys')).body as unknown as ApiKey[]
  return keys.find((key) => key.id === id)
}

describe('API key rotation', () => {
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

  it.each([-1, 604_801, 1.5, '60'])('refuses an overlap of %s', async (overlapSeconds) => {
    const { id, key } = await issue()
    const answer = await api('POST', `/api-keys/${id}/rotate`, { body: { overlapSeconds } })
    expect(refusalOf(answer)).toEqual({ status: 400, reason: 'invalid-body', path: 'overlapSeconds' })
    expect(await statusOf(key)).toBe(200)
  })
})
