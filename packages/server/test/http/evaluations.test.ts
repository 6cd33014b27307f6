import { randomUUID } from 'node:crypto'
import { Annotation, Evaluation } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { beforeAll, describe, expect, it } from 'vitest'
import { annotate as annotateConversation } from '../../src/features/evaluations/annotate.ts'
import type { Caller } from '../../src/shared/caller.ts'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, issueKey, openTenant, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const unknown = '00000000-0000-4000-8000-000000000000'

const { server, api } = await sharedServer()
let project: TestProject
let conversationUuid: string
let documentUuid: string

beforeAll(async () => {
  project = await createTestProject(api, { a: '---\nprovider: demo\n---\nHello', b: 'Other' })
  const log = await api('POST', `${project.live}/documents/logs`, { body: { path: 'a', messages: [] } })
  conversationUuid = String(log.body['uuid'])
  documentUuid = String(log.body['documentUuid'])
})

async function create(body: Record<string, unknown> = {}): Promise<wire.Evaluation> {
  const given = { projectId: project.id, name: 'Helpful', metric: 'binary', ...body }
  const answer = await api('POST', '/evaluations', { body: given })
  expect(answer.status, answer.text).toBe(201)
  expect(Evaluation.parse(answer.body)).toEqual(answer.body)
  return Evaluation.parse(answer.body)
}

const annotatePath = (evaluationUuid: string, conversation = conversationUuid) =>
  `/conversations/${conversation}/evaluations/${evaluationUuid}/annotate`

async function annotate(evaluation: wire.Evaluation, body: Record<string, unknown>): Promise<wire.Annotation> {
  const answer = await api('POST', annotatePath(evaluation.uuid), { body })
  expect(answer.status, answer.text).toBe(201)
  expect(Annotation.parse(answer.body)).toEqual(answer.body)
  return Annotation.parse(answer.body)
}

describe('evaluations', () => {
  it('are created with defaults, returned by uuid, and listed newest first', async () => {
    const rating = await create({ metric: 'rating', description: 'd', documentUuid: documentUuid.toUpperCase() })
    expect(rating).toMatchObject({
      projectId: project.id,
      documentUuid,
      description: 'd',
      type: 'human',
      configuration: { reverseScale: false, minRating: 1, maxRating: 5 },
    })
    const binary = await create({ configuration: { reverseScale: true, criteria: 'c', minRating: 9 } })
    expect(binary).toMatchObject({ documentUuid: null, configuration: { reverseScale: true, criteria: 'c' } })
    expect(binary.configuration).not.toHaveProperty('minRating')
    expect((await api('GET', `/evaluations/${rating.uuid.toUpperCase()}`)).body).toEqual(rating)
    const list = async (query: string) => (await api<wire.Evaluation[]>('GET', `/evaluations${query}`)).body
    expect((await list('')).slice(0, 2)).toEqual([binary, rating])
    expect(await list(`?documentUuid=${documentUuid}`)).toEqual([rating])
    expect(await list(`?projectId=${project.id}`)).toEqual([binary, rating])
    expect(await list(`?documentUuid=${unknown}`)).toEqual([])
    expect(await list('?documentUuid=nonsense')).toEqual([])
  })
})

const judgeText = (schema: string, more = '') =>
  `---\nprovider: demo\nschema: ${schema}${more}\n---\nJudge {{ answer }}`
const verdict =
  '{ type: object, properties: { passed: { type: boolean }, reason: { type: string } }, required: [passed, reason] }'

describe('evaluations of other types', () => {
  it('are rules with checks, which never change, and are archived', async () => {
    const checks = [{ type: 'contains', any: ['refund'] }]
    const rule = await create({ type: 'rule', checks, name: 'Refund' })
    expect(rule).toMatchObject({ type: 'rule', checks, metric: 'binary', judgeDocumentUuid: null, builtIn: null })
    const path = `/evaluations/${rule.uuid}`
    const listed = async (query = '') =>
      (await api<wire.Evaluation[]>('GET', `/evaluations?projectId=${project.id}${query}`)).body.map(({ uuid }) => uuid)
    const archived = await api('PUT', path, { body: { archived: true } })
    expect(archived).toMatchObject({ status: 200, body: { archivedAt: expect.any(String) } })
    expect(await listed()).not.toContain(rule.uuid)
    expect(await listed('&archived=true')).toContain(rule.uuid)
    expect((await api('PUT', path, { body: { archived: true } })).body).toEqual(archived.body)
    expect((await api('PUT', path, { body: { archived: false } })).body).toEqual(rule)
  })

  it.each<[Record<string, unknown>, string]>([
    [{ type: 'rule' }, 'checks'],
    [{ type: 'rule', checks: [] }, 'checks'],
    [{ type: 'code', checks: [{ type: 'exact' }] }, 'checks'],
    [{ type: 'judge' }, 'judge'],
    [{ judge: 'a' }, 'judge'],
    [{ type: 'code', metric: 'rating' }, 'metric'],
    [{ type: 'code', configuration: { reverseScale: true } }, 'configuration'],
  ])('are refused with what belongs to another type: %j', async (body, key) => {
    const answer = await api('POST', '/evaluations', { body: { projectId: project.id, name: 'x', ...body } })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path: [key] }] } } })
  })

  it('are judges, whose prompt is live or in a draft, by path or by uuid', async () => {
    const draft = await project.newDraft()
    const body = { path: 'judges/tone', prompt: judgeText(verdict) }
    const { documentUuid: judgeDocumentUuid } = (await api('POST', `${draft}/documents`, { body })).body
    for (const judge of ['judges/tone', String(judgeDocumentUuid)]) {
      expect(await create({ type: 'judge', judge })).toMatchObject({ type: 'judge', judgeDocumentUuid })
    }
    await api('DELETE', draft)
    const published = await createTestProject(api, { tone: judgeText(verdict) })
    expect((await create({ projectId: published.id, type: 'judge', judge: 'tone' })).judgeDocumentUuid).not.toBeNull()
  })

  it.each([
    ['no schema', 'Judge'],
    ['another schema', judgeText('{ type: object, properties: { passed: { type: string } }, required: [passed] }')],
    ['optional keys', judgeText(verdict.replace('required: [passed, reason]', 'required: [passed]'))],
    ['a client tool', judgeText(verdict, '\ntools:\n  - look_up: { description: x }')],
    ['an error', judgeText(verdict, '\nmaxSteps: many')],
    ['a text that does not compile', '{{ if a }}'],
  ])('refuse a prompt with %s', async (_name, prompt) => {
    const draft = await project.newDraft()
    const path = `judges/${randomUUID()}`
    expect((await api('POST', `${draft}/documents`, { body: { path, prompt } })).status).toBe(200)
    const body = { projectId: project.id, name: 'x', type: 'judge', judge: path }
    const answer = await api('POST', '/evaluations', { body })
    expect(refusalOf(answer)).toEqual({ status: 422, reason: 'not-a-judge' })
    expect(answer.body['details']).toEqual({ path, fault: expect.any(String) })
    await api('DELETE', draft)
  })
})

describe('annotations', () => {
  it('are returned normalized and listed newest first', async () => {
    const evaluation = await create({ metric: 'rating', configuration: { minThreshold: 4 } })
    const low = await annotate(evaluation, { score: 2.5, metadata: { reason: 'late', tags: ['a'] } })
    expect(low).toMatchObject({
      score: 2.5,
      normalizedScore: 38,
      hasPassed: false,
      error: null,
      metadata: { reason: 'late', tags: ['a'] },
      conversationUuid,
      evaluationUuid: evaluation.uuid,
    })
    const high = await annotate(evaluation, { score: 5, context: { kind: 'message' }, metadata: null })
    expect(high).toMatchObject({ normalizedScore: 100, hasPassed: true, metadata: { context: { kind: 'message' } } })
    const plain = await annotate(evaluation, { score: 4 })
    expect(plain.metadata).toEqual({})
    const { body: list } = await api('GET', `/conversations/${conversationUuid}/annotations`)
    const listed = {
      state: 'scored',
      source: 'person',
      author: { id: expect.any(Number) },
      judgeConversationUuid: null,
    }
    const expected = [plain, high, low].map((one) => ({ ...one, ...listed }))
    expect((list as unknown as wire.Annotation[]).slice(0, 3)).toMatchObject(expected)
  })

  it('apply to the version that the conversation ran on, unless another one is given', async () => {
    const evaluation = await create()
    const { versionUuid } = (await api('GET', `/conversations/${conversationUuid}`)).body
    expect(await annotate(evaluation, { score: 1 })).toMatchObject({ versionUuid })
    expect(await annotate(evaluation, { score: 1, versionUuid: 'live' })).toMatchObject({ versionUuid })
    const draft = (await project.newDraft()).split('/').at(-1)
    expect(await annotate(evaluation, { score: 1, versionUuid: draft })).toMatchObject({ versionUuid: draft })
  })

  it("apply to the conversation's draft even after its deletion, by name or not", async () => {
    const evaluation = await create()
    const draft = await project.newDraft()
    const log = await api('POST', `${draft}/documents/logs`, { body: { path: 'a', messages: [] } })
    await api('DELETE', draft)
    const versionUuid = draft.slice(-36)
    const path = annotatePath(evaluation.uuid, String(log.body['uuid']))
    for (const body of [{ score: 1 }, { score: 1, versionUuid: versionUuid.toUpperCase() }]) {
      expect(await api('POST', path, { body })).toMatchObject({ status: 201, body: { versionUuid } })
    }
    const elsewhere = await api('POST', annotatePath(evaluation.uuid), { body: { score: 1, versionUuid } })
    expect(refusalOf(elsewhere)).toEqual({ status: 404, reason: 'unknown-version' })
  })

  it('need an evaluation of the prompt of their conversation', async () => {
    const { documentUuid: b } = (await api('GET', `${project.live}/documents/b`)).body
    const ofB = await create({ documentUuid: b })
    const refused = await api('POST', annotatePath(ofB.uuid), { body: { score: 1 } })
    expect(refusalOf(refused)).toEqual({ status: 404, reason: 'unknown-evaluation' })
    const removed = await api('DELETE', `/conversations/${conversationUuid}/evaluations/${ofB.uuid}/label`)
    expect(refusalOf(removed)).toEqual({ status: 404, reason: 'unknown-evaluation' })
  })

  it('work on runs as on external logs', async () => {
    const run = await api('POST', `${project.live}/documents/run`, { body: { path: 'a' } })
    const uuid = String(run.body['uuid'])
    const answer = await api('POST', annotatePath((await create({ documentUuid })).uuid, uuid), { body: { score: 0 } })
    expect(answer).toMatchObject({ status: 201, body: { conversationUuid: uuid, hasPassed: false } })
  })
})

it('return 404 if the project is purged concurrently', async () => {
  const purged = await createTestProject(api, { a: 'x' })
  const log = await api('POST', `${purged.live}/documents/logs`, { body: { path: 'a', messages: [] } })
  const evaluation = await create({ projectId: purged.id })
  const { deps } = server
  const author = { id: 1, name: 'admin', email: 'admin@localhost' }
  const caller: Caller = {
    apiKeyId: 1,
    workspaceId: 1,
    author,
    scopes: ['admin'],
    projectId: null,
    limit: 100,
    sessionId: null,
  }
  const purgedBefore = (table: 'evaluation' | 'conversation'): typeof deps => ({
    ...deps,
    async transaction(work) {
      if (table === 'evaluation') await deps.deletions.store.purgeProject('evaluation', purged.id)
      else await deps.deletions.store.hideConversation(1, String(log.body['uuid']))
      return deps.transaction(work)
    },
  })
  const input = { caller, conversationUuid: String(log.body['uuid']), evaluationUuid: evaluation.uuid, score: 1 }
  for (const table of ['evaluation', 'conversation'] as const) {
    await expect(annotateConversation(purgedBefore(table), { ...input, metadata: {} })).rejects.toMatchObject({
      code: 'NotFoundError',
    })
  }
})

it('are listed to their tenant, and to a restricted key only those of its project', async () => {
  await create()
  const foreign = apiCaller(server.url, await openTenant(server, 'evaluations'))
  const other = await createTestProject(api, { c: 'x' })
  const ofOther = await create({ projectId: other.id })
  const restricted = apiCaller(server.url, await issueKey(api, { projectId: other.id, scopes: ['read'] }))
  expect((await foreign('GET', '/evaluations')).body).toEqual([])
  expect((await restricted('GET', '/evaluations')).body).toEqual([ofOther])
})
