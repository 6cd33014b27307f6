import { randomUUID } from 'node:crypto'
import { DeletedExample, Example, ExampleSummary } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { beforeAll, describe, expect, it } from 'vitest'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, issueKey, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
let project: TestProject
let examples: string
let documentUuid: string
let otherUuid: string

beforeAll(async () => {
  project = await createTestProject(api, { a: 'Hello {{ name }}', b: 'Other' })
  examples = `/projects/${project.id}/examples`
  const uuidOf = async (path: string) => String((await api('GET', `${project.live}/documents/${path}`)).body['uuid'])
  documentUuid = await uuidOf('a')
  otherUuid = await uuidOf('b')
})

const post = (body: Record<string, unknown>) =>
  api('POST', examples, { body: { documentUuid, name: randomUUID(), parameters: {}, ...body } })
const put = (uuid: string, body: Record<string, unknown>) => api('PUT', `${examples}/${uuid}`, { body })

async function create(body: Record<string, unknown> = {}): Promise<wire.Example> {
  const answer = await post(body)
  expect(answer.status, answer.text).toBe(201)
  return Example.parse(answer.body)
}

async function list(uuid = documentUuid): Promise<wire.Example[]> {
  const answer = await api('GET', `${examples}?documentUuid=${uuid}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body as unknown as wire.Example[]
}

/** Bytes of `{"k":"x…"}`. */
const objectOf = (bytes: number) => ({ k: 'x'.repeat(bytes - '{"k":""}'.length) })

describe('examples', () => {
  it('are listed by prompt in the order of their creation, with their author', async () => {
    const parameters = { name: 'Ada', count: 2, nested: { list: [null, 'é', 1.5] }, z: 1, a: 2 }
    const messages = [{ role: 'user', content: 'And now?' }]
    const first = await create({ name: 'second name', parameters, messages, documentUuid: documentUuid.toUpperCase() })
    const { author } = (await api('GET', '/me')).body['apiKey'] as { author: unknown }
    expect(first).toMatchObject({ documentUuid, name: 'second name', parameters, author })
    expect(Object.keys(first.parameters)).toEqual(Object.keys(parameters))
    expect(first.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'And now?' }] }])
    const second = await create({ name: 'first name' })
    expect(second.messages).toEqual([])
    const other = await create({ name: 'first name', documentUuid: otherUuid })
    expect(await list(documentUuid.toUpperCase())).toEqual([first, second])
    expect(await list(otherUuid)).toEqual([other])
    for (const unknown of [randomUUID(), 'none', '']) expect(await list(unknown)).toEqual([])
    expect(refusalOf(await api('GET', examples))).toMatchObject({ status: 400, path: 'documentUuid' })
  })

  it('can be changed field by field', async () => {
    const created = await create({ parameters: { name: 'Ada' }, messages: [{ role: 'user', content: 'x' }] })
    const renamed = await put(created.uuid.toUpperCase(), { name: 'renamed', parameters: null })
    expect(renamed).toMatchObject({ status: 200, body: { ...created, name: 'renamed', updatedAt: expect.any(String) } })
    expect((await put(created.uuid, { name: 'renamed' })).status).toBe(200)
    const { body } = await put(created.uuid, { parameters: { name: 'Leo' }, messages: [] })
    expect(body).toMatchObject({ name: 'renamed', parameters: { name: 'Leo' }, messages: [] })
    expect(Example.parse(body)).toEqual((await list()).find(({ uuid }) => uuid === created.uuid))
  })

  it('keep the author who created them', async () => {
    const { uuid, author } = await create()
    const key = await issueKey(api, { scopes: ['write'] })
    const changed = await apiCaller(server.url, key)('PUT', `${examples}/${uuid}`, { body: { name: randomUUID() } })
    expect(changed).toMatchObject({ status: 200, body: { author } })
  })

  it('can be deleted once, and their name is free again', async () => {
    const { uuid, name } = await create()
    expect(refusalOf(await post({ name }))).toEqual({ status: 409, reason: 'example-name-taken' })
    const deleted = await api('DELETE', `${examples}/${uuid}`)
    expect({ status: deleted.status, body: DeletedExample.parse(deleted.body) }).toEqual({
      status: 200,
      body: { uuid },
    })
    for (const answer of [await api('DELETE', `${examples}/${uuid}`), await put(uuid, { name: 'x' })]) {
      expect(refusalOf(answer)).toEqual({ status: 404, reason: 'unknown-example' })
    }
    await create({ name })
  })

  it('have names that are unique within their prompt, also under concurrent requests', async () => {
    const name = randomUUID()
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => post({ name })))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)])
    await create({ name: name.toUpperCase() })
    const other = await create()
    expect(refusalOf(await put(other.uuid, { name }))).toEqual({ status: 409, reason: 'example-name-taken' })
  })

  it('belong to a prompt of the project, drafts and deleted prompts included', async () => {
    const draft = await project.newDraft()
    const added = await api('POST', `${draft}/documents`, { body: { path: 'new' } })
    await create({ documentUuid: added.body['uuid'] })
    expect((await api('DELETE', `${draft}/documents/a`)).status).toBe(200)
    await create()
    const elsewhere = await createTestProject(api, { a: 'Hello' })
    const foreign = (await api('GET', `${elsewhere.live}/documents/a`)).body['uuid']
    for (const unknown of [foreign, randomUUID()]) {
      const answer = await post({ documentUuid: unknown })
      expect(refusalOf(answer)).toEqual({ status: 404, reason: 'unknown-document-uuid' })
    }
    expect(refusalOf(await post({ documentUuid: 'none' }))).toMatchObject({ status: 400, path: 'documentUuid' })
    const { uuid } = await create()
    const path = `/projects/${elsewhere.id}/examples/${uuid}`
    for (const answer of [await api('PUT', path, { body: {} }), await api('DELETE', path)]) {
      expect(refusalOf(answer)).toEqual({ status: 404, reason: 'unknown-example' })
    }
  })

  it('have an expected answer, checks, canned results, tags and a position', async () => {
    const added = await api('POST', `${await project.newDraft()}/documents`, { body: { path: 'rows' } })
    const inRows = { documentUuid: String(added.body['uuid']) }
    const first = await create(inRows)
    expect(first).toMatchObject({
      expected: null,
      checks: [],
      toolResults: {},
      tags: [],
      position: 0,
      sourceRunUuid: null,
    })
    const checks = [{ type: 'contains', any: ['é'], negate: true }]
    const toolResults = {
      find: [
        { args: { z: 1, a: 2 }, result: null },
        { result: 'none', isError: true },
      ],
    }
    const fields = { expected: { z: [null, 1.5], a: '' }, checks, toolResults, tags: ['must', 'b', 'must'] }
    const second = await create({ ...inRows, ...fields })
    expect(second).toMatchObject({ ...fields, tags: ['must', 'b'], position: 1 })
    const third = await create({ ...inRows, expected: '', position: 0 })
    const rows = await list(inRows.documentUuid)
    expect(rows.map(({ uuid }) => uuid)).toEqual([first.uuid, third.uuid, second.uuid])
    expect(JSON.stringify(rows[2])).toBe(JSON.stringify(second))
    const { body } = await api('GET', `${examples}?documentUuid=${inRows.documentUuid}&summary=true`)
    const summaries = body as unknown as wire.ExampleSummary[]
    expect(summaries.map((row) => ExampleSummary.strict().parse(row))).toMatchObject([
      {
        uuid: first.uuid,
        name: first.name,
        hasExpected: false,
        hasToolResults: false,
        checkCount: 0,
        hasMessages: false,
      },
      { uuid: third.uuid, hasExpected: true, author: third.author, updatedAt: third.updatedAt },
      { uuid: second.uuid, hasExpected: true, hasToolResults: true, checkCount: 1, tags: ['must', 'b'], position: 1 },
    ])
    const emptied = { expected: null, checks: [], toolResults: {}, tags: [], position: 7 }
    expect((await put(second.uuid, { name: 'kept' })).body).toMatchObject({ expected: fields.expected, checks })
    expect((await put(second.uuid, emptied)).body).toMatchObject(emptied)
  })

  it('are added, changed and deleted in one batch, by name', async () => {
    const added = await api('POST', `${await project.newDraft()}/documents`, { body: { path: 'batch' } })
    const inBatch = { documentUuid: String(added.body['uuid']) }
    const batch = (body: Record<string, unknown>) => api('POST', `${examples}/batch`, { body: { ...inBatch, ...body } })
    const changes = [
      { name: 'a', parameters: { n: 1 }, messages: [{ role: 'user', content: 'x' }], expected: { ok: true } },
      { name: 'b', checks: [{ type: 'latency', max: 5 }], tags: ['t'], toolResults: { f: [{ result: 1 }] } },
    ]
    expect((await batch({ changes })).body).toEqual({ added: 2, modified: 0, unchanged: 0, deleted: 0 })
    const [a, b] = await list(inBatch.documentUuid)
    expect([a, b]).toMatchObject([
      { name: 'a', position: 0, parameters: { n: 1 } },
      { name: 'b', position: 1, parameters: {} },
    ])
    expect((await batch({ changes })).body).toEqual({ added: 0, modified: 0, unchanged: 2, deleted: 0 })
    expect(await list(inBatch.documentUuid)).toEqual([a, b])
    const next = [{ name: 'a', expected: null }, { name: 'c' }]
    const answer = await batch({ changes: next, delete: [String(b?.uuid).toUpperCase(), randomUUID()] })
    expect(answer.body).toEqual({ added: 1, modified: 1, unchanged: 0, deleted: 1 })
    const rows = await list(inBatch.documentUuid)
    expect(rows).toMatchObject([
      { name: 'a', expected: null, parameters: { n: 1 } },
      { name: 'c', position: 1 },
    ])
  })

  it('stay as they are if a part of a batch is refused', async () => {
    const added = await api('POST', `${await project.newDraft()}/documents`, { body: { path: 'refused' } })
    const inRefused = { documentUuid: String(added.body['uuid']) }
    const { uuid } = await create({ ...inRefused, name: 'kept' })
    const rest = { ...inRefused, delete: [uuid] }
    const refused = async (changes: unknown[]) =>
      refusalOf(await api('POST', `${examples}/batch`, { body: { ...rest, changes } }))
    const large = { name: 'large', parameters: objectOf(262_144), expected: 'x' }
    expect(await refused([{ name: 'a' }, large])).toMatchObject({ status: 400, path: 'changes.1' })
    expect(await refused([{ name: 'a' }, { name: 'a' }])).toMatchObject({ status: 400, path: 'changes.1.name' })
    expect((await list(inRefused.documentUuid)).map(({ name }) => name)).toEqual(['kept'])
  })

  it('have at most 256 KB of parameters and messages together', async () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'x' }] }]
    const rest = 262_144 - JSON.stringify(messages).length
    const refusal = { status: 400, reason: 'invalid-body', path: 'parameters' }
    expect(refusalOf(await post({ messages, parameters: objectOf(rest + 1) }))).toEqual(refusal)
    const { uuid } = await create({ messages, parameters: objectOf(rest) })
    expect(refusalOf(await put(uuid, { parameters: objectOf(rest + 1) }))).toEqual(refusal)
    expect(refusalOf(await put(uuid, { messages: [...messages, ...messages] }))).toEqual(refusal)
    expect((await put(uuid, { messages: [], parameters: objectOf(262_144 - '[]'.length) })).status).toBe(200)
  })

  it('have at most 16 MB together in a prompt, and are then listed in pieces', async () => {
    const added = await api('POST', `${await project.newDraft()}/documents`, { body: { path: 'full' } })
    const inFull = { documentUuid: String(added.body['uuid']) }
    const full = objectOf(262_144 - '[]'.length)
    const first = await create({ ...inFull, parameters: full })
    const columns = 'workspace_id, project_id, document_uuid, author_id, parameters, messages, created_at, updated_at'
    await server.database.session.query(
      `INSERT INTO example (uuid, name, ${columns})
       SELECT gen_random_uuid(), n, ${columns} FROM example, generate_series(2, 63) n WHERE uuid = $1::uuid`,
      [first.uuid],
    )
    const { uuid } = await create({ ...inFull, parameters: objectOf(262_143 - '[]'.length) })
    const over = await post({ ...inFull, parameters: {} })
    expect(refusalOf(over)).toEqual({ status: 409, reason: 'too-many-examples' })
    expect(over.body['message']).toBe('The examples of a prompt are limited to 16777216 bytes')
    expect((await put(uuid, { parameters: full })).status).toBe(200)
    const listed = await list(inFull.documentUuid)
    expect(listed.map(({ parameters }) => parameters['k'] === full.k)).toEqual(Array.from({ length: 64 }, () => true))
    expect((await api('DELETE', `${examples}/${uuid}`)).status).toBe(200)
    await create({ ...inFull, parameters: objectOf(262_142 - '[]'.length) })
  })
})
