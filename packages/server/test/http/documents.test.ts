import { createHash } from 'node:crypto'
import { Document } from '@stet/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { parseRaw, sendRaw } from './raw-http.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, createTestProject, issueKey, openServer, type TestProject } from './scenario.ts'

let server: TestServer
let api: Api
let project: TestProject
const prompt = 'Hello {{ name }}'
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

beforeAll(async () => {
  ;({ server, api } = await openServer())
})
afterAll(() => server.close())
beforeEach(async () => {
  project = await createTestProject(api)
})

describe('document response', () => {
  it('returns the superset body with its ETag', async () => {
    const body = { path: '/folder/hello/', prompt: `---\nprovider: demo\nmodel: demo\n---\n${prompt}` }
    const created = await api('POST', `${project.draft}/documents`, { body })
    expect(created.status).toBe(200)
    expect(Document.strict().parse(created.body)).toEqual(created.body)
    const read = await api('GET', `${project.draft}/documents/folder/hello`)
    expect(read.body).toEqual(created.body)
    expect(read.body).toMatchObject({
      path: 'folder/hello',
      content: body.prompt,
      contentHash: hash(body.prompt),
      versionUuid: project.draftUuid,
      projectId: project.id,
      config: { provider: 'demo', model: 'demo' },
      parameters: { name: { type: 'text' } },
      provider: 'custom',
      errors: [],
      mergedAt: null,
      deletedAt: null,
    })
    expect(read.headers.get('etag')).toBe(`"${hash(body.prompt)}"`)
    expect(created.headers.get('etag')).toBe(read.headers.get('etag'))
    expect(read.headers.get('cache-control')).toBe('private, no-cache')
    expect(read.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const list = await api('GET', `${project.draft}/documents`)
    expect(list.body).toEqual([created.body])
  })

  it('shows a parameter whose `required` is not a boolean', async () => {
    // In YAML 1.2, `yes` is a string.
    const body = { path: 'a', prompt: `---\nparameters:\n  name: { required: yes, label: n }\n---\n${prompt}` }
    const created = await api('POST', `${project.draft}/documents`, { body })
    expect(created).toMatchObject({ status: 200, body: { config: { parameters: { name: { required: 'yes' } } } } })
    expect(Document.parse(created.body).parameters).toEqual({ name: { type: 'text', label: 'n' } })
  })

  it('is 304 for a client with the current ETag', async () => {
    await api('POST', `${project.draft}/documents`, { body: { path: 'a', prompt } })
    const etag = `"${hash(prompt)}"`
    for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await api('GET', `${project.draft}/documents/a`, { headers: { 'if-none-match': ifNoneMatch } })
      expect({ ifNoneMatch, status: answer.status, text: answer.text }).toEqual({ ifNoneMatch, status: 304, text: '' })
      expect(answer.headers.get('etag')).toBe(etag)
    }
    const other = await api('GET', `${project.draft}/documents/a`, { headers: { 'if-none-match': `"${hash('')}"` } })
    expect(other.status).toBe(200)
  })

  it('changes when a referenced prompt changes', async () => {
    const live = await createTestProject(api, { top: '<prompt path="leaf" />', leaf: 'old' })
    const read = (headers: Record<string, string> = {}) => api('GET', `${live.live}/documents/top`, { headers })
    await read()
    const first = await read()
    const etag = first.headers.get('etag') ?? ''
    const resolved = String(first.body['resolvedContent'])
    expect(etag).toBe(`"${hash('<prompt path="leaf" />')}.${hash(resolved).slice(0, 16)}"`)
    expect((await read({ 'if-none-match': etag })).status).toBe(304)
    const edit = { path: 'leaf', prompt: 'new', force: true }
    expect((await api('POST', `${live.live}/documents/create-or-update`, { body: edit })).status).toBe(200)
    const second = await read({ 'if-none-match': etag })
    expect(second).toMatchObject({ status: 200, body: { contentHash: first.body['contentHash'] } })
    expect(second.body['resolvedContent']).toContain('new')
    expect((await read({ 'if-none-match': second.headers.get('etag') ?? '' })).status).toBe(304)
  })

  it('accepts its ETag as a precondition, even with references', async () => {
    const path = 'top'
    const put = (prompt: string, more: object, headers: Record<string, string> = {}) =>
      api('POST', `${project.draft}/documents/create-or-update`, { body: { path, prompt, ...more }, headers })
    const etag = (await put('<prompt path="leaf" />1', {})).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[0-9a-f]{64}\.[0-9a-f]{16}"$/)
    expect((await put('<prompt path="leaf" />2', {}, { 'if-match': etag })).status).toBe(200)
    expect((await put('<prompt path="leaf" />3', {}, { 'if-match': etag })).status).toBe(412)
    const tag = (await api('GET', `${project.draft}/documents/top`)).headers.get('etag')?.replaceAll('"', '')
    expect((await put('<prompt path="leaf" />3', { baseHash: tag })).status).toBe(200)
    expect((await put('<prompt path="leaf" />4', { baseHash: tag })).status).toBe(409)
  })

  it('has the same head for HEAD as for GET', async () => {
    await api('POST', `${project.draft}/documents`, { body: { path: 'a', prompt } })
    const get = await api('GET', `${project.draft}/documents/a`)
    const head = await api('HEAD', `${project.draft}/documents/a`)
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' })
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
  })

  it("includes a provider key's type as soon as the key exists", async () => {
    await api('POST', `${project.draft}/documents`, { body: { path: 'a', prompt: '---\nprovider: later\n---\nx' } })
    expect((await api('GET', `${project.draft}/documents/a`)).body).not.toHaveProperty('provider')
    const entry = { name: 'later', provider: 'anthropic', token: 'sk-0123456789abcdef' }
    const stored = await api('POST', '/provider-api-keys', { body: entry })
    expect(stored.status).toBe(201)
    expect((await api('GET', `${project.draft}/documents/a`)).body['provider']).toBe('anthropic')
    await api('DELETE', `/provider-api-keys/${String(stored.body['id'])}`)
    expect((await api('GET', `${project.draft}/documents/a`)).body).not.toHaveProperty('provider')
  })
})

describe('document paths in URLs', () => {
  beforeEach(async () => {
    const paths = ['a', 'a/b/c', 'run', 'logs', 'get-or-create', 'check', '\u00e9']
    const changes = paths.map((path) => ({ path, content: path, status: 'added' }))
    expect((await api('POST', `${project.draft}/push`, { body: { changes } })).status).toBe(200)
  })

  // fetch would normalize some of these URLs before it sends them.
  async function raw(method: string, tail: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const head = `${method} /api/v3${project.draft}/documents${tail} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`
    const answer = parseRaw(
      await sendRaw(Number(new URL(server.url).port), [`${head}Authorization: Bearer ${server.adminKey}\r\n\r\n`]),
    )
    return { status: answer.status, body: JSON.parse(answer.body) as Record<string, unknown> }
  }

  it.each([
    ['/a/b/c', 'a/b/c'],
    ['/a%2Fb%2Fc', 'a/b/c'],
    ['/a%2fb/c', 'a/b/c'],
    ['//a', 'a'],
    ['/%2Fa', 'a'],
    ['/a/', 'a'],
    ['/run', 'run'],
    ['/logs', 'logs'],
    ['/get-or-create', 'get-or-create'],
    ['/check', 'check'],
    ['/e%CC%81', '\u00e9'],
    ['/%C3%A9', '\u00e9'],
  ])('GET %s reads %s', async (tail, path) => {
    const { status, body } = await raw('GET', tail)
    expect({ status, path: body['path'] }).toEqual({ status: 200, path })
  })

  it.each(['', '/', '//'])('GET documents%s returns the list', async (tail) => {
    const { status, body } = await raw('GET', tail)
    expect(status).toBe(200)
    expect(body).toHaveLength(7)
  })

  it.each([
    ['', ['a', 'a/b/c', 'check', 'get-or-create', 'logs', 'run', '\u00e9']],
    ['a', ['a', 'a/b/c']],
    ['a/', ['a/b/c']],
    ['/a', ['a', 'a/b/c']],
    ['e\u0301', ['\u00e9']],
    ['A', []],
    ['_', []],
    ['a%', []],
    ['\\', []],
    ['b/', []],
    ['//e\u0301', ['\u00e9']],
  ])('the prefix %j returns %j', async (prefix, paths) => {
    const { body } = await api('GET', `${project.draft}/documents?prefix=${encodeURIComponent(prefix)}`)
    expect((body as unknown as { path: string }[]).map(({ path }) => path)).toEqual(paths)
  })

  it.each(['/a%', '/%ff', '/a%00'])('refuses GET %s as malformed', async (tail) => {
    expect(refusalOf(await raw('GET', tail))).toEqual({ status: 400, reason: 'malformed-path' })
  })

  it.each([
    ['/a%20b', 'a b'],
    ['/../x', '../x'],
    ['/%2e%2e%2fx', '../x'],
    ['/A', 'A'],
    [`/${'x'.repeat(10_000)}`, 'x'.repeat(10_000)],
  ])('returns 404 for GET %s', async (tail, path) => {
    const { status, body } = await raw('GET', tail)
    expect({ status, details: body['details'] }).toMatchObject({
      status: 404,
      details: { reason: 'unknown-document', path },
    })
  })

  it('deletes a document named like a POST action', async () => {
    expect((await raw('DELETE', '/run')).body).toMatchObject({ path: 'run' })
    expect((await raw('GET', '/run')).status).toBe(404)
  })

  it('returns 405 for POST with any other word after documents', async () => {
    const { status, body } = await raw('POST', '/a')
    const details = { method: 'POST', allow: ['DELETE', 'GET', 'HEAD'], reason: 'method-not-allowed' }
    expect({ status, details: body['details'] }).toEqual({ status: 405, details })
  })
})

describe('preconditions', () => {
  const put = (body: object, headers: Record<string, string> = {}) =>
    api('POST', `${project.draft}/documents/create-or-update`, { body: { path: 'a', ...body }, headers })

  it('returns 412 for If-Match and If-None-Match, 409 for baseHash, and changes nothing', async () => {
    expect((await put({ prompt: 'one' }, { 'if-match': '*' })).status).toBe(412)
    expect((await put({ prompt: 'one' }, { 'if-none-match': '*' })).status).toBe(200)
    expect((await put({ prompt: 'two' }, { 'if-none-match': '*' })).status).toBe(412)
    expect((await put({ prompt: 'two' }, { 'if-match': `"${hash('other')}"` })).status).toBe(412)
    const conflict = await put({ prompt: 'two', baseHash: hash('other') })
    expect(conflict.status).toBe(409)
    expect(conflict.body.details).toEqual({
      conflicts: [{ path: 'a', expected: hash('other'), actual: hash('one') }],
      reason: 'base-changed',
    })
    expect((await api('GET', `${project.draft}/documents/a`)).body['content']).toBe('one')
    expect((await put({ prompt: 'two', baseHash: hash('one') }, { 'if-match': `"${hash('one')}"` })).status).toBe(200)
    const refused = await api('DELETE', `${project.draft}/documents/a`, { headers: { 'if-match': `"${hash('one')}"` } })
    expect(refused.status).toBe(412)
  })
})

// Last-used times are written concurrently, so a request counts as warm if repeating it adds no statement. A key's
// use is recorded at most once a minute, so a new key causes no further write during a test.
async function warmUp(read: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const before = server.database.statementCount()
    await read()
    if (server.database.statementCount() === before) return
  }
}

describe('SQL statements of a GET request', () => {
  it('are 0 for a warm live prompt (by path, by uuid, with 304, for HEAD), and more after a write', async () => {
    const live = await createTestProject(api, { a: 'one' })
    const key = await issueKey(api, {})
    const read = () => api('GET', `${live.live}/documents/a`, { key })
    await warmUp(read)
    const before = server.database.statementCount()
    const headers = { 'if-none-match': (await read()).headers.get('etag') ?? '' }
    await api('GET', `${live.live}/documents/a`, { key, headers })
    await api('HEAD', `${live.live}/documents/a`, { key })
    expect(server.database.statementCount() - before).toBe(0)

    const edit = { path: 'a', prompt: 'two', force: true }
    expect((await api('POST', `${live.live}/documents/create-or-update`, { body: edit })).status).toBe(200)
    const written = server.database.statementCount()
    expect((await read()).body['content']).toBe('two')
    expect(server.database.statementCount()).toBeGreaterThan(written)
  })
})
