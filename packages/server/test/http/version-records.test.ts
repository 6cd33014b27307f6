import { ReleasePage, RollbackResult, Version, VersionTree } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { beforeAll, describe, expect, it } from 'vitest'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, createTestProject, issueKey } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
let ada: Api
let leo: Api

beforeAll(async () => {
  ada = apiCaller(server.url, await issueKey(api, { name: 'Ada' }))
  leo = apiCaller(server.url, await issueKey(api, { name: 'Leo' }))
})

const put = (caller: Api, version: string, path: string, prompt: string, force = false) =>
  caller('POST', `${version}/documents/create-or-update`, { body: { path, prompt, force } })
const read = async (version: string) => Version.parse((await api('GET', version)).body)
const diffCount = async (version: string) => {
  const { body } = await api('GET', `${version}/diff`)
  return (body['changes'] as unknown[]).length
}

it('counts what each version changes, as diff lists it, and names its publisher', async () => {
  const project = await createTestProject(ada, { a: '1', b: '1', c: '1' })
  const draft = await project.newDraft()
  expect(await read(draft)).toMatchObject({ changeCount: 0, publishedBy: null, forcedEdits: [] })
  await put(ada, draft, 'a', '2')
  await put(ada, draft, 'b', '2')
  await put(ada, draft, 'b', '1')
  await put(ada, draft, 'new', '1')
  await ada('DELETE', `${draft}/documents/c`)
  await put(ada, draft, 'gone', '1')
  await ada('DELETE', `${draft}/documents/gone`)
  expect((await read(draft)).changeCount).toBe(3)
  expect(await diffCount(draft)).toBe(3)

  const first = await read(project.live)
  const published = Version.parse((await leo('POST', `${draft}/publish`)).body)
  expect(published).toMatchObject({ changeCount: 3, publishedBy: { name: 'Leo' }, forcedEdits: [], authorName: 'Ada' })
  expect(await read(draft)).toEqual(published)
  expect(await diffCount(draft)).toBe(3)
  expect(first).toMatchObject({ changeCount: 3, publishedBy: { name: 'Ada' } })
  const list = (await api<unknown[]>('GET', project.live.replace('/live', ''))).body
  expect(list).toContainEqual(published)
  expect(list).toContainEqual({ ...first, isLive: false })
})

it('records forced edits with their author, and counts them like diff', async () => {
  const project = await createTestProject(ada, { a: '1', b: '1' })
  const draft = await project.newDraft()
  await put(ada, draft, 'a', '2')
  await ada('POST', `${draft}/publish`)
  const earlier = (await api('GET', `${project.draft}/documents/b`)).body['contentHash']
  await put(leo, project.live, 'b', '3', true)
  await put(ada, project.live, 'c', '3', true)
  await put(ada, project.live, 'c', '3', true)
  const live = await read(project.live)
  const hashOf = async (path: string) => (await api('GET', `${project.live}/documents/${path}`)).body['contentHash']
  expect(live.forcedEdits).toMatchObject([
    { path: 'b', author: { name: 'Leo' }, oldHash: earlier, newHash: await hashOf('b') },
    { path: 'c', author: { name: 'Ada' }, oldHash: null, newHash: await hashOf('c') },
  ])
  expect(live.forcedEdits[1]?.createdAt).toBe(live.updatedAt)
  expect(live.changeCount).toBe(3)
  expect(await diffCount(project.live)).toBe(3)
  expect((await api('GET', `${project.live}/documents/b`)).body['updatedBy']).toMatchObject({ name: 'Leo' })
})

it('does not name a publisher for imported versions and for publications of earlier releases', async () => {
  const project = await createTestProject(ada, { a: '1' })
  await server.database.session.query('UPDATE version SET published_by = NULL WHERE project_id = $1', [project.id])
  await server.database.session.query('UPDATE document SET author_id = NULL WHERE project_id = $1', [project.id])
  // A write drops what the server has cached.
  const draft = await project.newDraft()
  expect(await read(project.live)).toMatchObject({ publishedBy: null, changeCount: 1 })
  expect((await api('GET', `${project.live}/documents/a`)).body['updatedBy']).toBeNull()
  await put(ada, draft, 'a', '2')
  const history = { title: 'x', authorName: 'Grace', createdAt: '2026-01-02T03:04:05.678Z' }
  const mergedAt = '2026-01-03T03:04:05.678Z'
  const imported = await api('POST', `${draft}/import`, { body: { ...history, mergedAt } })
  expect(imported.body).toMatchObject({ publishedBy: null, changeCount: 1, forcedEdits: [] })
  expect(imported.body).toEqual(await read(draft))
})

it('reads a merged version as it was before forced edits, and only reads it', async () => {
  const project = await createTestProject(ada, { a: 'one <prompt path="b" />', b: '1' })
  const { draft } = project
  const [text, published] = [await api('GET', `${draft}/documents/a`), await read(draft)]
  await put(leo, draft, 'b', '2', true)
  await put(leo, draft, 'c', 'new', true)
  await put(ada, draft, 'a', 'two', true)
  const [first, last] = [`${draft}@0`, `${draft}@3`]
  expect(await read(draft)).toMatchObject({
    revision: 3,
    isLive: true,
    forcedEdits: [{ revision: 1 }, { path: 'c' }, {}],
  })
  expect(await read(first)).toEqual({ ...published, isLive: false, changeCount: 3 })
  expect(await read(last)).toEqual(await read(draft))
  expect(await read(`${draft}@1`)).toMatchObject({ revision: 1, forcedEdits: [{ path: 'b', revision: 1 }] })

  // The text with its reference, author and times is the one from before.
  const { body, headers } = await api('GET', `${first}/documents/a`)
  expect(body).toEqual({ ...text.body, id: body['id'] })
  expect(headers.get('etag')).toBe(text.headers.get('etag'))
  expect((await api('GET', `${draft}/documents/a`)).body).toMatchObject({ content: 'two', updatedBy: { name: 'Ada' } })
  expect((await api('GET', `${draft}@1/documents/b`)).body).toMatchObject({ content: '2', updatedBy: { name: 'Leo' } })
  const listed = (await api<{ path: string; content: string }[]>('GET', `${first}/documents`)).body
  expect(listed.map(({ path, content }) => [path, content])).toEqual([
    ['a', 'one <prompt path="b" />'],
    ['b', '1'],
  ])
  const page = await api('GET', `${draft}@1/documents?prefix=b&resolved=false`)
  expect(page.body).toMatchObject([{ path: 'b', content: '2' }])
  const tree = await api('GET', `${draft}@2/tree`)
  expect(tree.body).toMatchObject({ version: { revision: 2 }, items: [{ path: 'a' }, { path: 'b' }, { path: 'c' }] })
  const uuid = draft.split('/').at(-1)
  const { body: diff } = await api('GET', `${draft}@2/diff?base=${uuid}@0`)
  expect(diff).toMatchObject({
    base: uuid,
    head: uuid,
    changes: [{ path: 'b', after: { content: '2' } }, { path: 'c' }],
  })

  const open = await project.newDraft()
  const unknown: [method: string, path: string, body?: object][] = [
    ['GET', `${draft}@4`],
    ['GET', `${draft}@-1`],
    ['GET', `${draft}@`],
    ['GET', `${draft}@0@0`],
    ['GET', `${project.live}@0`],
    ['GET', `${open}@0`],
    ['GET', `${draft}/diff?base=${uuid}@4`],
    ['POST', `${first}/push`, { changes: [] }],
    ['POST', `${first}/documents/create-or-update`, { path: 'a', prompt: 'x', force: true }],
    ['POST', `${first}/documents/check`, { path: 'a' }],
    ['POST', `${first}/documents/run`, { path: 'a' }],
    ['POST', `${first}/documents/logs`, { path: 'a', messages: [] }],
    ['DELETE', `${first}/documents/a`],
  ]
  for (const [method, path, sent] of unknown) {
    const answer = await api(method, path, { body: sent })
    expect({ path, ...refusalOf(answer) }).toEqual({ path, status: 404, reason: 'unknown-version' })
  }
})

it('rolls back to texts that were edited by force, and names who did what', async () => {
  const project = await createTestProject(ada, { a: '1', b: '1' })
  const environment = `/projects/${project.id}/environments/LIVE`
  const rollBack = async (body: object, caller = ada) => {
    const answer = await caller('POST', `${environment}/rollback`, { body })
    expect(answer.status, answer.text).toBe(200)
    return RollbackResult.parse(answer.body)
  }
  const first = await read(project.live)
  const before = (await api('GET', `${project.live}/documents/a`)).body
  await put(leo, project.live, 'a', 'forced', true)
  const { environment: live, release } = await rollBack({ reason: 'Wrong fix', expectedVersionUuid: first.uuid })
  expect(release).toMatchObject({
    ...{ environment: 'live', seq: 3, kind: 'rollback', returnsTo: null, author: { name: 'Ada' }, reason: 'Wrong fix' },
    from: { uuid: first.uuid, number: 1, revision: 1 },
    version: { number: 2, revision: 0, title: 'rollback to v1' },
  })
  expect(live).toEqual({ name: 'live', version: release?.version, seq: 3, rollback: null })
  const restored = await read(project.live)
  expect(restored).toMatchObject({ version: 2, baseVersionUuid: first.uuid, baseRevision: 0, changeCount: 1 })
  expect(restored).toMatchObject({
    description: 'Wrong fix',
    publishedBy: { name: 'Ada' },
    parentCommitUuid: first.uuid,
  })
  const { content, contentHash, documentUuid, updatedAt, updatedBy } = before as Record<string, unknown>
  const text = { content, contentHash, documentUuid, updatedAt, updatedBy }
  expect((await api('GET', `${project.live}/documents/a`)).body).toMatchObject(text)
  expect((await api('GET', `${project.live.replace('live', first.uuid)}/documents/a`)).body).toMatchObject({
    content: 'forced',
  })

  // An edit of a version that live does not serve is no release.
  await put(leo, project.draft, 'b', 'forced', true)
  expect(await rollBack({ to: `${first.uuid}@1` }, leo)).toMatchObject({ release: { version: { number: 3 }, seq: 4 } })
  expect(await rollBack({ to: 4 })).toMatchObject({ release: null, environment: { seq: 4, rollback: { seq: 1 } } })
  // Live serves a copy of these texts already, so a repeated request makes no second one.
  expect(await rollBack({ to: 1 })).toMatchObject({ release: { version: { number: 4 }, seq: 5 } })
  for (const to of [1, `${first.uuid}@0`])
    expect(await rollBack({ to })).toMatchObject({ release: null, environment: { seq: 5, rollback: null } })
  const nowhere = await ada('POST', `${environment}/rollback`, { body: { to: `${first.uuid}@2` } })
  expect(refusalOf(nowhere)).toEqual({ status: 409, reason: 'nothing-to-return-to' })
  const newest = await api('GET', `${environment}/releases?limit=4`)
  const { items, nextCursor } = ReleasePage.parse(newest.body)
  expect(items.map(({ seq, kind, author }) => [seq, kind, author.name])).toEqual([
    [5, 'rollback', 'Ada'],
    [4, 'rollback', 'Leo'],
    [3, 'rollback', 'Ada'],
    [2, 'edit', 'Leo'],
  ])
  const oldest = await api('GET', `${environment}/releases?cursor=${nextCursor}`)
  expect(oldest.body).toMatchObject({ items: [{ seq: 1, kind: 'publish', from: null }], nextCursor: null })
})

describe('the tree of a version', () => {
  async function treeOf(version: string, caller: Api = api): Promise<wire.VersionTree> {
    const { status, body } = await caller('GET', `${version}/tree`)
    expect(status).toBe(200)
    return VersionTree.parse(body)
  }

  const states = ({ items }: wire.VersionTree) => Object.fromEntries(items.map(({ path, change }) => [path, change]))
  const known = ({ items }: wire.VersionTree) =>
    Object.fromEntries(items.map(({ path, compiles, isAgent }) => [path, [compiles, isAgent]]))
  const put = (version: string, path: string, prompt: string, caller: Api = api) =>
    caller('POST', `${version}/documents/create-or-update`, { body: { path, prompt } })

  it("lists a draft's prompts by path with their changes, deleted ones included, and no text", async () => {
    const project = await createTestProject(api, {
      same: 's',
      edited: 'old',
      deleted: 'd',
      '\u{10400}': 'x',
      '\uff41': 'y',
    })
    const draft = await project.newDraft()
    await put(draft, 'edited', 'new')
    await put(draft, 'added', 'secret text')
    await put(draft, 'same', 'other')
    await put(draft, 'same', 's')
    await put(draft, 'added-and-deleted', 'x')
    await api('DELETE', `${draft}/documents/added-and-deleted`)
    await api('DELETE', `${draft}/documents/deleted`)

    const { status, text, body } = await api('GET', `${draft}/tree`)
    expect(status).toBe(200)
    const tree = VersionTree.parse(body)
    expect(text).not.toContain('secret text')
    expect(states(tree)).toEqual({
      added: 'added',
      deleted: 'deleted',
      edited: 'modified',
      same: null,
      '\uff41': null,
      '\u{10400}': null,
    })
    expect(tree.items.map(({ path }) => path)).toEqual(['added', 'deleted', 'edited', 'same', '\uff41', '\u{10400}'])
    expect(tree.version).toEqual((await api('GET', draft)).body)
    const live = await treeOf(project.live)
    expect(states(live)).toMatchObject({ deleted: null, edited: null })
    expect(live.items.map(({ path }) => path)).toEqual(['deleted', 'edited', 'same', '\uff41', '\u{10400}'])
    const read = await api('GET', `${draft}/documents/edited`)
    const { documentUuid, contentHash, updatedAt } = read.body
    expect(tree.items[2]).toMatchObject({ documentUuid, contentHash, updatedAt })
  })

  it('shows what the server knows of each text, with its references', async () => {
    const project = await createTestProject(api)
    const { draft } = project
    const changes = Object.entries({
      whole: 'x',
      broken: '{{ if }}',
      agent: '---\ntype: agent\n---\nx',
      top: '<prompt path="leaf" />',
    }).map(([path, content]) => ({ path, content, status: 'added' }))
    expect((await api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
    const unknown = [null, null]
    expect(known(await treeOf(draft))).toEqual({ agent: unknown, broken: unknown, top: unknown, whole: unknown })

    await api('GET', `${draft}/documents`)
    const listed = { agent: [true, true], broken: [false, false], top: [false, false], whole: [true, false] }
    expect(known(await treeOf(draft))).toEqual(listed)

    await put(draft, 'leaf', 'y')
    expect(known(await treeOf(draft))).toEqual({ ...listed, leaf: [true, false], top: unknown })
    await api('GET', `${draft}/documents/top`)
    expect(known(await treeOf(draft))).toMatchObject({ top: [true, false] })
    await put(draft, 'leaf', '{{ if }}')
    expect(known(await treeOf(draft))).toMatchObject({ leaf: [false, false], top: unknown })
    await put(draft, 'leaf', 'y')
    expect(known(await treeOf(draft))).toMatchObject({ leaf: [true, false], top: [true, false] })
  })

  it('shows whether a run would refuse the settings of a text', async () => {
    const { draft } = await createTestProject(api)
    await put(draft, 'hot', '---\ntemperature: hot\n---\nx')
    await put(draft, 'warned', '---\ntemprature: 1\n---\nx')
    const { items } = await treeOf(draft)
    expect(items).toMatchObject([
      { path: 'hot', compiles: true, isConfigured: false },
      { path: 'warned', compiles: true, isConfigured: true },
    ])
  })

  it('knows that references are nested too deeply', async () => {
    const { draft } = await createTestProject(api)
    const contents = Array.from({ length: 12 }, (_, at) => ({
      path: `p${at}`,
      content: `<prompt path="p${at + 1}" />`,
    }))
    const changes = [...contents, { path: 'p12', content: 'x' }].map((text) => ({ ...text, status: 'added' }))
    expect((await api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
    const { body } = await api('GET', `${draft}/documents/p0`)
    expect(body['errors']).toMatchObject([{ code: 'limit-exceeded' }])
    expect(known(await treeOf(draft))).toMatchObject({ p0: [false, false], p1: [null, null] })
  })

  it('names who changed each prompt last', async () => {
    const ada = apiCaller(server.url, await issueKey(api, { name: 'Ada' }))
    const leo = apiCaller(server.url, await issueKey(api, { name: 'Leo' }))
    const project = await createTestProject(ada, { a: '1', b: '1', c: '1' })
    const draft = await project.newDraft()
    const editors = async (version: string) =>
      Object.fromEntries((await treeOf(version)).items.map(({ path, updatedBy }) => [path, updatedBy?.name]))
    await put(draft, 'a', '2', leo)
    await put(draft, 'a', '2', ada)
    await leo('DELETE', `${draft}/documents/b`)
    await leo('POST', `${draft}/push`, { body: { changes: [{ path: 'd', content: '', status: 'added' }] } })
    expect(await editors(draft)).toEqual({ a: 'Leo', b: 'Leo', c: 'Ada', d: 'Leo' })
    expect(await editors(project.live)).toEqual({ a: 'Ada', b: 'Ada', c: 'Ada' })

    expect((await ada('POST', `${draft}/publish`)).status).toBe(200)
    expect(await editors(project.live)).toEqual({ a: 'Leo', c: 'Ada', d: 'Leo' })
    const edit = { path: 'c', prompt: '3', force: true }
    expect((await leo('POST', `${project.live}/documents/create-or-update`, { body: edit })).status).toBe(200)
    expect(await editors(project.live)).toEqual({ a: 'Leo', c: 'Leo', d: 'Leo' })
  })

  it('sends one statement, besides the cached version, for 1,000 prompts', async () => {
    const contents = Array.from({ length: 1_000 }, (_, at) => [`f${at % 6}/p${at}`, `text ${at} `.repeat(200)] as const)
    const project = await createTestProject(api)
    const changes = contents.map(([path, content]) => ({ path, content, status: 'added' }))
    for (const at of [0, 500]) {
      const pushed = await api('POST', `${project.draft}/push`, { body: { changes: changes.slice(at, at + 500) } })
      expect(pushed.status).toBe(200)
    }
    const caller = apiCaller(server.url, await issueKey(api, {}))
    const statements = async () => {
      const before = server.database.statementCount()
      expect((await treeOf(project.draft, caller)).items).toHaveLength(1_000)
      return server.database.statementCount() - before
    }
    await statements()
    // Another statement may record the use of a key.
    await expect.poll(statements).toBe(1)
  })
})
