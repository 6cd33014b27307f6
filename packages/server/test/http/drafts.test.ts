import { Version } from '@stet/contract'
import type { Version as VersionBody } from '@stet/contract/vocabulary'
import { beforeAll, describe, expect, it } from 'vitest'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, createTestProject, issueKey, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
const unknown = { status: 404, reason: 'unknown-version' }
const merged = { status: 400, reason: 'merged-version' }
let leo: Api

beforeAll(async () => {
  leo = apiCaller(server.url, await issueKey(api, { name: 'Leo' }))
})

const read = async (version: string) => Version.parse((await api('GET', version)).body)
const versionsOf = ({ id }: TestProject) => `/projects/${id}/versions`

async function listed(project: TestProject, query = ''): Promise<VersionBody[]> {
  return Version.array().parse((await api('GET', `${versionsOf(project)}${query}`)).body)
}

async function create(project: TestProject, body: Record<string, unknown>, by: Api = api) {
  return by('POST', versionsOf(project), { body: { name: 'pull request', ...body } })
}

async function texts(version: string): Promise<Record<string, string>> {
  const { body } = await api('GET', `${version}/documents`)
  return Object.fromEntries((body as unknown as { path: string; content: string }[]).map((d) => [d.path, d.content]))
}

const added = (path: string, content: string, more = {}) => ({ path, status: 'added', content, ...more })

describe('a draft is renamed', () => {
  it('with its notes, and stays untouched if nothing changes', async () => {
    const project = await createTestProject(api, { a: '1' })
    const draft = await project.newDraft()
    const renamed = await api('PUT', draft, { body: { name: 'Warmer', description: 'notes' } })
    expect(Version.parse(renamed.body)).toMatchObject({ title: 'Warmer', message: 'Warmer', description: 'notes' })
    expect(await read(draft)).toEqual(renamed.body)
    expect((await api('PUT', draft, { body: { name: 'Warmer' } })).body).toEqual(renamed.body)
    expect((await api('PUT', draft, { body: { description: '' } })).body).toMatchObject({ description: null })
  })

  it('but a merged version is not', async () => {
    const project = await createTestProject(api, { a: '1' })
    for (const version of [project.live, project.draft]) {
      expect(refusalOf(await api('PUT', version, { body: { name: 'x' } }))).toEqual(merged)
    }
  })
})

describe('a deleted draft', () => {
  it('is unknown everywhere until it is restored with its changes', async () => {
    const project = await createTestProject(api, { a: '1' })
    const draft = await project.newDraft()
    await api('POST', `${draft}/push`, { body: { changes: [added('b', '2')] } })
    const deleted = Version.parse((await api('DELETE', draft)).body)
    expect(deleted).toMatchObject({ status: 'draft', changeCount: 1, deletedAt: expect.any(String) })
    for (const [method, path] of [
      ...[['GET', ''] as const, ['PUT', ''] as const],
      ...['/tree', '/diff', '/documents', '/documents/b'].map((path) => ['GET', path] as const),
      ['GET', `/diff?base=${deleted.uuid}`] as const,
    ]) {
      expect([method, path, refusalOf(await api(method, `${draft}${path}`))]).toEqual([method, path, unknown])
    }
    for (const [path, body] of [
      ['push', { changes: [] }],
      ['revert', {}],
      ['documents/create-or-update', { path: 'b', prompt: '3' }],
      ['documents/run', { path: 'b' }],
    ] as const) {
      expect([path, refusalOf(await api('POST', `${draft}/${path}`, { body }))]).toEqual([path, unknown])
    }
    expect(refusalOf(await api('POST', `${draft}/publish`))).toEqual({ status: 400, reason: 'not-a-draft' })

    // A client repeats a deletion whose response was lost.
    expect((await api('DELETE', draft)).body).toEqual(deleted)
    expect((await listed(project)).map(({ uuid }) => uuid)).toEqual([project.draftUuid])
    expect(await listed(project, '?deleted=true&status=draft')).toEqual([deleted])
    const restored = await api('POST', `${draft}/restore`)
    expect(restored.body).toMatchObject({ uuid: deleted.uuid, deletedAt: null, changeCount: 1 })
    expect((await api('POST', `${draft}/restore`)).body).toEqual(restored.body)
    expect(await texts(draft)).toEqual({ a: '1', b: '2' })
  })

  it('leaves its conversations, which can be continued', async () => {
    const project = await createTestProject(api, {})
    const draft = await project.newDraft()
    await api('POST', `${draft}/push`, { body: { changes: [added('a', '---\nprovider: demo\n---\nHi')] } })
    const ran = await api('POST', `${draft}/documents/run`, { body: { path: 'a' } })
    const { uuid } = await read(draft)
    await api('DELETE', draft)
    const conversation = `/conversations/${String(ran.body['uuid'])}`
    expect((await api('GET', conversation)).body).toMatchObject({ versionUuid: uuid })
    const page = await api('GET', `/conversations?versionUuid=${uuid}`)
    expect(page.body['items']).toMatchObject([{ uuid: ran.body['uuid'] }])
    const messages = [{ role: 'user', content: 'and then?' }]
    expect((await api('POST', `${conversation}/chat`, { body: { messages } })).status).toBe(200)
  })

  it('is never a merged version', async () => {
    const project = await createTestProject(api, { a: '1' })
    for (const version of [project.live, project.draft]) {
      expect(refusalOf(await api('DELETE', version))).toEqual(merged)
      expect(refusalOf(await api('POST', `${version}/restore`))).toEqual(merged)
    }
  })
})

describe('a draft is reused', () => {
  it('by its exact name, the newest one that is open', async () => {
    const project = await createTestProject(api, { a: '1' })
    const [older, newer, deleted, published] = [
      Version.parse((await create(project, {})).body),
      Version.parse((await create(project, {})).body),
      Version.parse((await create(project, {})).body),
      Version.parse((await create(project, {})).body),
    ]
    await api('DELETE', `${versionsOf(project)}/${deleted.uuid}`)
    await api('POST', `${versionsOf(project)}/${published.uuid}/publish`)
    expect((await create(project, { reuse: true })).body).toEqual(await read(`${versionsOf(project)}/${newer.uuid}`))
    const other = Version.parse((await create(project, { name: 'Pull request', reuse: true })).body)
    expect([older.uuid, newer.uuid, deleted.uuid, published.uuid]).not.toContain(other.uuid)
  })
})

describe('a draft is filled', () => {
  it('and its changes are replaced, with the uuids of the prompts that stay', async () => {
    const project = await createTestProject(api, { a: '1', b: '1' })
    const { contentHash } = (await api('GET', `${project.live}/documents/a`)).body
    const isNew = { baseHash: '' }
    const first = await create(project, { changes: [added('a', '2', { baseHash: contentHash }), added('new', '2')] })
    const draft = `${versionsOf(project)}/${String(first.body['uuid'])}`
    expect(first.body).toMatchObject({ changeCount: 2 })
    const { uuid } = (await api('GET', `${draft}/documents/new`)).body
    const gone = { path: 'b', status: 'deleted', baseHash: contentHash }
    const changes = [added('a', '3', { baseHash: contentHash }), added('new', '3', isNew), gone]
    const push = { reuse: true, replace: true, changes }
    expect((await create(project, push)).body).toMatchObject({ uuid: first.body['uuid'], changeCount: 3 })
    expect(await texts(draft)).toEqual({ a: '3', new: '3' })
    expect((await api('GET', `${draft}/documents/new`)).body['uuid']).toBe(uuid)
    const last = await create(project, { reuse: true, replace: true, changes: [added('new', '3', isNew)] })
    expect(last.body).toMatchObject({ changeCount: 1 })
    expect(await texts(draft)).toEqual({ a: '1', b: '1', new: '3' })
    const before = await read(draft)
    expect((await create(project, { reuse: true, replace: true, changes: [added('new', '3', isNew)] })).body).toEqual(
      before,
    )
  })

  it('and replaced only on the live text that each change names', async () => {
    const project = await createTestProject(api, { a: '1\n2\n3\n' })
    const hashOfLive = async () => (await api('GET', `${project.live}/documents/a`)).body['contentHash']
    const baseHash = await hashOfLive()
    const replacing = (more: object) =>
      create(project, { reuse: true, replace: true, changes: [added('a', 'mine\n2\n3\n', more)] })
    const draft = `${versionsOf(project)}/${String((await replacing({ baseHash })).body['uuid'])}`
    await create(project, { name: 'other', changes: [added('a', '1\n2\ntheirs\n')], publish: {} })
    // The draft now has live's text as its base, so publishing would find no conflict.
    expect((await api('POST', `${draft}/update`)).body['updated']).toMatchObject([{ path: 'a' }])
    const blind = await replacing({})
    expect(refusalOf(blind)).toEqual({ status: 400, reason: 'invalid-body', path: 'changes.0.baseHash' })
    expect(blind.text).toContain('is required with `replace`')
    expect(refusalOf(await replacing({ baseHash }))).toEqual({ status: 409, reason: 'base-changed' })
    expect(await texts(draft)).toEqual({ a: 'mine\n2\ntheirs\n' })
    expect((await replacing({ baseHash: await hashOfLive() })).status).toBe(200)
    expect((await api('POST', `${draft}/publish`)).status).toBe(200)
  })

  it("and never loses another author's change", async () => {
    const project = await createTestProject(api, { a: '1', b: '1', c: '1' })
    const baseHash = (await api('GET', `${project.live}/documents/a`)).body['contentHash']
    const theirs = { changes: ['a', 'b', 'c'].map((path) => added(path, 'theirs', { baseHash })) }
    const draft = `${versionsOf(project)}/${String((await create(project, theirs, leo)).body['uuid'])}`
    await api('POST', `${draft}/push`, { body: { changes: [added('d', 'mine')] } })
    const replacing = {
      reuse: true,
      replace: true,
      changes: [added('a', 'mine', { baseHash }), added('b', 'theirs', { baseHash })],
    }
    const refused = await create(project, replacing)
    expect(refusalOf(refused)).toEqual({ status: 409, reason: 'others-changed' })
    expect(refused.body['details']).toEqual({ paths: ['a', 'c'] })
    expect(await texts(draft)).toEqual({ a: 'theirs', b: 'theirs', c: 'theirs', d: 'mine' })
    expect((await create(project, { ...replacing, ...theirs })).body).toMatchObject({ changeCount: 3 })
    expect(await texts(draft)).toEqual({ a: 'theirs', b: 'theirs', c: 'theirs' })
  })
})

describe('a merge with live', () => {
  it("keeps the authors of a draft's changes, so that they can still replace them", async () => {
    const project = await createTestProject(api, { a: '1\n2\n3\n' })
    const baseHash = (await api('GET', `${project.live}/documents/a`)).body['contentHash']
    const mine = { changes: [added('a', 'mine\n2\n3\n', { baseHash })] }
    const draft = `${versionsOf(project)}/${String((await create(project, mine)).body['uuid'])}`
    const authorOf = async (version: string) => (await api('GET', `${version}/documents/a`)).body['updatedBy']
    const me = await authorOf(draft)
    await create(project, { name: 'second', changes: [added('a', '1\n2\ntheirs\n')], publish: {} })
    await leo('POST', `${draft}/update`)
    expect(await texts(draft)).toEqual({ a: 'mine\n2\ntheirs\n' })
    expect(await authorOf(draft)).toEqual(me)
    expect((await create(project, { reuse: true, replace: true })).body).toMatchObject({ changeCount: 0 })

    const again = { changes: [added('a', 'mine\n2\ntheirs\n')], reuse: true }
    await create(project, again)
    await create(project, { name: 'third', changes: [added('a', '1\n2\nnewer\n')], publish: {} })
    expect((await leo('POST', `${draft}/publish`, { body: { merge: true } })).status).toBe(200)
    expect(await texts(project.live)).toEqual({ a: 'mine\n2\nnewer\n' })
    expect(await authorOf(project.live)).toEqual(me)
  })
})

describe('a draft is published in the request that creates it', () => {
  it('with title and notes, also over a draft that it reuses', async () => {
    const project = await createTestProject(api, { a: '1' })
    await create(project, { changes: [added('b', '<prompt path="a" />')] })
    const publish = { title: 'Second', description: 'notes' }
    const published = await create(project, { reuse: true, changes: [added('c', '3')], publish })
    expect(Version.parse(published.body)).toMatchObject({ version: 2, isLive: true, changeCount: 2, ...publish })
    expect(await read(project.live)).toEqual(published.body)
    expect(await texts(project.live)).toEqual({ a: '1', b: '<prompt path="a" />', c: '3' })
    expect(await listed(project, '?status=draft')).toEqual([])
  })

  it.each([
    ['draft-does-not-compile', { changes: [added('b', '{{ if }}')] }],
    ['draft-does-not-compile', { changes: [added('b', '<prompt path="gone" />')] }],
    ['draft-does-not-compile', { changes: [{ path: 'part', status: 'deleted' }] }],
    ['base-changed', { changes: [added('a', '2', { baseHash: '' })] }],
    [
      'release-refused',
      { changes: [added('b', '---\ntemperature: hot\n---\nHi')], publish: { block: ['configuration'] } },
    ],
  ])('or leaves nothing behind: %s', async (reason, body) => {
    const project = await createTestProject(api, { a: '<prompt path="part" />', part: '1' })
    const before = await api('GET', versionsOf(project))
    const refused = await create(project, { publish: {}, ...body })
    expect(refused.body).toMatchObject({ reason })
    expect((await api('GET', versionsOf(project))).text).toBe(before.text)
    expect(await texts(project.live)).toEqual({ a: '<prompt path="part" />', part: '1' })
  })

  it('compiled as it will be: without the changes that it replaces', async () => {
    const project = await createTestProject(api, { part: '1' })
    await create(project, { changes: [added('broken', '{{ if }}'), added('other', '2')] })
    const isNew = { baseHash: '' }
    const changes = [added('a', '<prompt path="other" />', isNew)]
    const refused = await create(project, { reuse: true, replace: true, changes, publish: {} })
    expect(refused.body).toMatchObject({
      reason: 'draft-does-not-compile',
      details: { documents: [{ path: 'a', errors: [{ code: 'reference-not-found' }] }] },
    })
    const fine = { changes: [added('a', '<prompt path="b" />', isNew), added('b', '<prompt path="part" />', isNew)] }
    expect((await create(project, { reuse: true, replace: true, ...fine, publish: {} })).status).toBe(200)
    expect(Object.keys(await texts(project.live))).toEqual(['a', 'b', 'part'])
  })

  it('only with the scope publish', async () => {
    const project = await createTestProject(api, { a: '1' })
    const writer = apiCaller(server.url, await issueKey(api, { scopes: ['read', 'write'] }))
    const refused = await create(project, { publish: {} }, writer)
    expect(refused.body).toMatchObject({ reason: 'missing-scope', details: { required: 'publish' } })
    expect((await create(project, { changes: [added('b', '1')] }, writer)).status).toBe(200)
  })

  it('once for an Idempotency-Key', async () => {
    const project = await createTestProject(api, { a: '1' })
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { name: 'once', changes: [added('b', '2')], publish: {} }
    const [one, two] = [
      await api('POST', versionsOf(project), { body, headers }),
      await api('POST', versionsOf(project), { body, headers }),
    ]
    expect(one.body).toMatchObject({ version: 2 })
    expect(two.text).toBe(one.text)
    expect(await listed(project)).toHaveLength(2)
  })
})

it('costs a draft without changes no statement for a plan and its record', async () => {
  const project = await createTestProject(api, { a: '1' })
  const statementsOf = async (body: object) => {
    const before = server.database.statementCount()
    expect((await create(project, { ...body })).status).toBe(200)
    return server.database.statementCount() - before
  }
  const plain = await statementsOf({})
  expect(await statementsOf({ changes: [], replace: true })).toBe(plain)
  // Slots, rows and record.
  expect(await statementsOf({ changes: [added('b', '1')] })).toBe(plain + 3)
})
