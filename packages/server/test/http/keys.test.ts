import { ApiKey, CreatedApiKey, Me } from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, openServer } from './scenario.ts'

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
    expect((list.body as unknown as ApiKey[])[0]).toEqual(apiKey)
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
      const list = (await api('GET', '/api-keys')).body as unknown as ApiKey[]
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

  it.each([
    [{ name: 'x', scopes: ['root'] }, 'scopes.0'],
    [{ name: 'x', expiresAt: '2001-01-01T00:00:00.000Z' }, 'expiresAt'],
    [{ name: 'x', expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ name: 'x', expiresAt: '9999-12-31T23:59:59-00:01' }, 'expiresAt'],
    [{ name: 'x', projectId: 2147483648 }, 'projectId'],
  ])('refuse %o', async (body, key) => {
    const answer = await api('POST', '/api-keys', { body })
    expect(refusalOf(answer)).toEqual({ status: 400, reason: 'invalid-body', path: key })
  })

  it('expire at the end of 9999 at the latest', async () => {
    const expiresAt = '9999-12-31T23:59:59.999Z'
    expect(await api('POST', '/api-keys', { body: { name: 'x', expiresAt } })).toMatchObject({ body: { expiresAt } })
    expect((await api('GET', '/api-keys')).status).toBe(200)
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

  it.each([
    [{ ...entry, name: 'a', provider: 'custom' }],
    [{ ...entry, name: 'a', provider: 'unheard-of' }],
    [{ ...entry, name: 'a', url: 'file:///etc/passwd' }],
    [{ ...entry, name: 'a', url: 'http://127.0.0.1:9' }],
    [{ ...entry, name: 'a', token: '' }],
    [{ ...entry, name: 'a', token: 'two\nlines' }],
  ])('refuse %o with 400', async (body) => {
    expect((await api('POST', '/provider-api-keys', { body })).status).toBe(400)
  })
})
