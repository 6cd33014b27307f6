import { VersionTree } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { expect, it } from 'vitest'
import { apiCaller } from './api-call.ts'
import { type Api, createTestProject, issueKey } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()

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
  const contents = Array.from({ length: 12 }, (_, at) => ({ path: `p${at}`, content: `<prompt path="p${at + 1}" />` }))
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
