import { Version } from '@stet/contract'
import { beforeAll, expect, it } from 'vitest'
import { apiCaller } from './api-call.ts'
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
  const list = (await api('GET', project.live.replace('/live', ''))).body as unknown as unknown[]
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
