import { createHash } from 'node:crypto'
import { Document, VersionDiff } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTestProject, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { api } = await sharedServer()
let project: TestProject
const prompt = 'Hello {{ name }}'
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

beforeEach(async () => {
  project = await createTestProject(api)
})

describe('a large version', () => {
  it('is listed and compared with the bodies and texts of its prompts', async () => {
    const texts = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`p${index}`, `${index} `.repeat(65_000)] as const),
    )
    const large = await createTestProject(api, texts)
    const list = await api('GET', `${large.live}/documents`)
    const gets = await Promise.all(
      Object.keys(texts)
        .sort()
        .map(async (path) => (await api('GET', `${large.live}/documents/${path}`)).text),
    )
    expect(list.text).toBe(`[${gets.join(',')}]`)
    const { body } = await api('GET', `${large.live}/diff`)
    const { changes } = VersionDiff.parse(body)
    const after = Object.fromEntries(changes.map((change) => [change.path, change.after?.content]))
    expect(after).toEqual(texts)
    expect(changes.map(({ path }) => path)).toEqual(Object.keys(texts).sort())
  })
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
})

describe('document paths in URLs', () => {
  beforeEach(async () => {
    const paths = ['a', 'a/b/c', 'run', 'logs', 'get-or-create', 'check', 'merge', '\u00e9']
    const changes = paths.map((path) => ({ path, content: path, status: 'added' }))
    expect((await api('POST', `${project.draft}/push`, { body: { changes } })).status).toBe(200)
  })

  it('may be names of POST actions, which no other word after documents is', async () => {
    const documents = `${project.draft}/documents`
    for (const path of ['a%2Fb%2Fc', 'run', 'logs', 'get-or-create', 'check', 'merge', 'e%CC%81']) {
      const { body } = await api('GET', `${documents}/${path}`)
      expect(body['path']).toBe(decodeURIComponent(path).normalize())
    }
    expect((await api('DELETE', `${documents}/run`)).body).toMatchObject({ path: 'run' })
    expect((await api('GET', `${documents}/run`)).status).toBe(404)
    const allow = ['DELETE', 'GET', 'HEAD']
    expect(await api('POST', `${documents}/a`)).toMatchObject({ status: 405, body: { details: { allow } } })
  })

  it('are listed in pages, with or without resolved texts', async () => {
    const list = async (query: string): Promise<unknown> =>
      (await api('GET', `${project.draft}/documents?${query}`)).body
    const all = Document.array().parse(await list(''))
    for (const limit of [1, 3, 100]) {
      const read: wire.Document[] = []
      let page: wire.Document[]
      do {
        const cursor = read.length === 0 ? '' : `&cursor=${encodeURIComponent(read.at(-1)?.path ?? '')}`
        page = Document.array().parse(await list(`limit=${limit}${cursor}`))
        read.push(...page)
      } while (page.length === limit)
      expect(read).toEqual(all)
    }
    expect(await list('resolved=true')).toEqual(all)
    expect(await list('resolved=false')).toEqual(all.map(({ resolvedContent: _resolved, ...rest }) => rest))
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'resolved=no'])
      expect((await api('GET', `${project.draft}/documents?${query}`)).status).toBe(400)
  })

  it('are listed by prefix', async () => {
    for (const [prefix, paths] of [
      ['', ['a', 'a/b/c', 'check', 'get-or-create', 'logs', 'merge', 'run', '\u00e9']],
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
    ] as const) {
      const { body } = await api('GET', `${project.draft}/documents?prefix=${encodeURIComponent(prefix)}`)
      expect(body).toEqual(paths.map((path) => expect.objectContaining({ path })))
    }
  })
})
