import { randomUUID } from 'node:crypto'
import { Version } from '@stet/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, openTenant, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
let project: TestProject

beforeEach(async () => {
  project = await createTestProject(api, { kept: 'kept', edited: 'one' })
})

const history = () => ({
  uuid: randomUUID(),
  title: 'Second',
  description: 'Notes',
  authorName: 'Ada',
  authorEmail: 'ada@example.com',
  createdAt: '2024-01-02T03:04:05.678Z',
  mergedAt: '2024-02-03T04:05:06.789Z',
})
const textsOf = async (version: string) => {
  const { body } = await api('GET', `${version}/documents`)
  return Object.fromEntries((body as unknown as { path: string; content: string }[]).map((it) => [it.path, it.content]))
}
const push = (draft: string, content: string) =>
  api('POST', `${draft}/push`, { body: { changes: [{ path: 'edited', status: 'modified', content }] } })

describe('the import of a version', () => {
  it('makes a draft live with the uuid, names and times of the original', async () => {
    const draft = await project.newDraft()
    await push(draft, 'two')
    const body = history()
    const imported = await api('POST', `${draft}/import`, { body })
    expect(imported.status, imported.text).toBe(200)
    const { createdAt, mergedAt, title, description, uuid, authorName, authorEmail } = body
    const shown = { createdAt, mergedAt, title, description, uuid, authorName, authorEmail }
    expect(Version.parse(imported.body)).toMatchObject({ ...shown, status: 'merged', version: 2, isLive: true })
    expect((await api('GET', project.live)).body).toEqual(imported.body)
    expect((await api('GET', draft)).status).toBe(404)
    expect(await textsOf(project.live)).toEqual({ kept: 'kept', edited: 'two' })
    expect(await textsOf(project.draft)).toEqual({ kept: 'kept', edited: 'one' })
    const next = await project.newDraft()
    expect((await api('GET', next)).body).toMatchObject({ parentCommitUuid: uuid })
  })

  it('keeps one author for each name and address', async () => {
    const authors = []
    for (const authorEmail of ['ada@example.com', 'ada@example.com', '']) {
      const draft = await project.newDraft()
      const { body } = await api('POST', `${draft}/import`, { body: { ...history(), authorEmail } })
      authors.push(body['authorId'])
    }
    expect(authors[0]).toBe(authors[1])
    expect(authors[2]).not.toBe(authors[0])
  })

  it('accepts prompts that do not compile', async () => {
    const draft = await project.newDraft()
    await push(draft, '{{ if }}')
    expect(refusalOf(await api('POST', `${draft}/publish`, { body: {} }))).toMatchObject({ status: 422 })
    expect((await api('POST', `${draft}/import`, { body: history() })).status).toBe(200)
    expect(await textsOf(project.live)).toEqual({ kept: 'kept', edited: '{{ if }}' })
  })

  it('leaves a draft without mergedAt a draft with its changes', async () => {
    const draft = await project.newDraft()
    await push(draft, 'two')
    const { mergedAt: _, uuid: __, ...body } = history()
    const imported = await api('POST', `${draft}/import`, { body })
    expect(imported.body).toMatchObject({ status: 'draft', version: null, mergedAt: null, ...shownOf(body) })
    expect(draft).toContain(imported.body['uuid'])
    expect(await textsOf(draft)).toEqual({ kept: 'kept', edited: 'two' })
    expect(await textsOf(project.live)).toEqual({ kept: 'kept', edited: 'one' })
  })

  it('repeats forced edits of a published version, with their authors and times', async () => {
    const [first, second] = [history(), history()]
    const draft = await project.newDraft()
    await push(draft, 'two')
    await api('POST', `${draft}/import`, { body: first })
    await api('POST', `${await project.newDraft()}/import`, { body: second })
    const edit = (path: string, prompt: string, day: number) => ({
      ...{ path, prompt, authorName: `Author ${day}`, createdAt: `2024-03-0${day}T00:00:00.000Z` },
    })
    const revisions = [edit('edited', 'three', 1), edit('new', 'new', 2), edit('edited', 'two', 3)]
    const ofFirst = `/projects/${project.id}/versions/${first.uuid}`
    const imported = await api('POST', `${ofFirst}/import`, { body: { ...first, title: 'Ignored', revisions } })
    expect(imported.status, imported.text).toBe(200)
    const { forcedEdits, ...version } = Version.parse(imported.body)
    expect(version).toMatchObject({ title: 'Second', version: 2, revision: 3, isLive: false })
    expect(
      forcedEdits.map(({ revision, path, author, createdAt }) => [revision, path, author.name, createdAt]),
    ).toEqual(revisions.map(({ path, authorName, createdAt }, index) => [index + 1, path, authorName, createdAt]))
    expect((await api('GET', ofFirst)).body).toEqual(imported.body)
    const was = { kept: 'kept', edited: 'two' }
    const states = [was, { ...was, edited: 'three' }, { ...was, edited: 'three', new: 'new' }, { ...was, new: 'new' }]
    for (const [revision, texts] of states.entries())
      expect(await textsOf(`${ofFirst}@${revision}`), `revision ${revision}`).toEqual(texts)
    expect(await textsOf(project.live)).toEqual(was)

    const body = { ...second, revisions: [edit('edited', 'live', 4), edit('edited', 'live', 5)] }
    expect((await api('POST', `${project.live}/import`, { body })).body).toMatchObject({ revision: 1 })
    expect(await textsOf(project.live)).toEqual({ ...was, edited: 'live' })
    const { items } = (await api('GET', `/projects/${project.id}/environments/live/releases`)).body as {
      items?: { kind: string }[]
    }
    expect(items?.map(({ kind }) => kind)).toEqual(['edit', 'publish', 'publish', 'publish'])
  })

  it('records the given base, and refuses one that is not a published version of the project', async () => {
    const draft = await project.newDraft()
    const live = (await api('GET', project.live)).body
    const other = await createTestProject(api, { a: 'a' })
    const foreign = (await api('GET', other.live)).body['uuid']
    const unpublished = (await api('GET', draft)).body['uuid']
    for (const baseVersionUuid of [foreign, unpublished, randomUUID()]) {
      const refused = await api('POST', `${draft}/import`, { body: { ...history(), baseVersionUuid } })
      expect(refusalOf(refused)).toEqual({ status: 404, reason: 'unknown-version' })
    }
    await api('POST', `${await project.newDraft()}/import`, { body: history() })
    const based = { ...history(), baseVersionUuid: live['uuid'], baseRevision: 3 }
    const imported = await api('POST', `${draft}/import`, { body: based })
    expect(imported.body).toMatchObject({ version: 3, baseVersionUuid: live['uuid'], baseRevision: 3 })
  })

  it('writes no part of refused revisions, and takes none for a draft', async () => {
    const { authorName, createdAt, ...rest } = history()
    const edit = { path: 'edited', prompt: 'x', authorName, createdAt }
    const body = { ...rest, authorName, createdAt, revisions: [edit, { ...edit, path: 'no spaces' }] }
    expect(refusalOf(await api('POST', `${project.live}/import`, { body }))).toMatchObject({ reason: 'invalid-path' })
    const { mergedAt: _, ...unpublished } = body
    expect((await api('POST', `${await project.newDraft()}/import`, { body: unpublished })).status).toBe(400)
    const many = { ...body, revisions: Array.from({ length: 101 }, () => edit) }
    expect((await api('POST', `${project.live}/import`, { body: many })).status).toBe(400)
    expect((await api('GET', project.live)).body).toMatchObject({ revision: 0, forcedEdits: [] })
  })

  it('refuses a used uuid of any tenant, in any letter case', async () => {
    const body = history()
    await api('POST', `${await project.newDraft()}/import`, { body })
    const tenant = await openTenant(server, `tenant ${randomUUID()}`)
    const projects = (await api<{ id: number }[]>('GET', '/projects', { key: tenant })).body
    const versions = `/projects/${projects[0]?.id}/versions`
    const made = await api('POST', versions, { key: tenant, body: { name: 'x' } })
    const path = `${versions}/${made.body['uuid']}/import`
    for (const uuid of [body.uuid, body.uuid.toUpperCase()]) {
      const taken = await api('POST', path, { key: tenant, body: { ...body, uuid } })
      expect(refusalOf(taken)).toEqual({ status: 409, reason: 'version-uuid-taken' })
    }
  })

  it('takes the uuid of a deleted draft of the project, which can still be restored from the list', async () => {
    const body = history()
    const deleted = await project.newDraft()
    await push(deleted, 'deleted')
    const uuid = deleted.slice(-36)
    await api('DELETE', deleted)
    const elsewhere = await (await createTestProject(api, {})).newDraft()
    const taken = await api('POST', `${elsewhere}/import`, { body: { ...body, uuid } })
    expect(refusalOf(taken)).toEqual({ status: 409, reason: 'version-uuid-taken' })
    const imported = await api('POST', `${await project.newDraft()}/import`, { body: { ...body, uuid } })
    expect(imported.body).toMatchObject({ uuid, status: 'merged' })
    expect(refusalOf(await api('POST', `${deleted}/restore`))).toEqual({ status: 400, reason: 'merged-version' })
    const versions = deleted.slice(0, -37)
    const list = (await api<{ uuid: string }[]>('GET', `${versions}?deleted=true&status=draft`)).body
    const moved = `${versions}/${list[0]?.uuid}`
    expect(list).toHaveLength(1)
    expect((await api('POST', `${moved}/restore`)).status).toBe(200)
    expect(await textsOf(moved)).toEqual({ kept: 'kept', edited: 'deleted' })
  })

  it('accepts the uuid of a version whose project was just deleted', async () => {
    const body = history()
    const first = await createTestProject(api, { a: 'a' })
    await api('POST', `${await first.newDraft()}/import`, { body })
    expect((await api('DELETE', `/projects/${first.id}`, { body: { name: 'scenario' } })).status).toBe(200)
    const again = await api('POST', `${await project.newDraft()}/import`, { body })
    expect(again.body).toMatchObject({ uuid: body.uuid, projectId: project.id })
  })
})

function shownOf({ title, description, createdAt }: { title: string; description: string; createdAt: string }) {
  return { title, description, createdAt, authorName: 'Ada' }
}
