import { ReleasePage, RollbackResult, Version } from '@stet/contract'
import { beforeAll, expect, it } from 'vitest'
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
