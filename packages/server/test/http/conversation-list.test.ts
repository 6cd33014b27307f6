import { ConversationPage, LabeledConversation, RunDetails, RunPage } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import type { ConversationSummary } from '@stet/contract/vocabulary'
import { beforeAll, describe, expect, it } from 'vitest'
import { count } from '../support/counts.ts'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, createTestProject, issueKey, openTenant, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const prompt = '---\nprovider: demo\n---\nHello'

const { server, api } = await sharedServer()
let project: TestProject
let other: TestProject

beforeAll(async () => {
  project = await createTestProject(api, { a: prompt, b: prompt })
  other = await createTestProject(api, { a: prompt })
  // A single-item page then always has a next page.
  for (const { live } of [project, other]) await log(live)
})

async function list(query: Record<string, string> = {}, caller: Api = api): Promise<wire.ConversationPage> {
  const answer = await caller('GET', `/conversations?${new URLSearchParams(query).toString()}`)
  expect(answer.status, answer.text).toBe(200)
  expect(ConversationPage.parse(answer.body)).toEqual(answer.body)
  return ConversationPage.parse(answer.body)
}

async function log(address: string, body: Record<string, unknown> = {}): Promise<string> {
  const answer = await api('POST', `${address}/documents/logs`, { body: { path: 'a', messages: [], ...body } })
  return String(answer.body['uuid'])
}

const uuids = (items: readonly ConversationSummary[]) => items.map(({ uuid }) => uuid)

describe('conversation list', () => {
  it('returns single-conversation fields without messages, newest first', async () => {
    const mine = await createTestProject(api, { a: prompt })
    const first = await log(mine.live)
    const ran = await api('POST', `${mine.live}/documents/run`, { body: { path: 'a' } })
    const { items, nextCursor } = await list({ projectId: String(mine.id), limit: '2' })
    expect(uuids(items)).toEqual([ran.body['uuid'], first])
    expect(nextCursor).toBeNull()
    for (const item of items) {
      const { conversation: _messages, ...single } = (await api('GET', `/conversations/${item.uuid}`)).body
      expect(item).toEqual(single)
    }
    expect(items[0]?.tokenUsage.totalTokens).toBeGreaterThan(0)
  })

  it("includes the latest run's error", async () => {
    const failing = await createTestProject(api, { f: '---\nprovider: nobody\n---\nHello' })
    await api('POST', `${failing.live}/documents/run`, { body: { path: 'f' } })
    const { items } = await list({ projectId: String(failing.id), status: 'error' })
    expect(items).toMatchObject([{ status: 'error', error: { errorCode: 'missing_provider_error' } }])
  })

  it('returns only conversations that match all filters', async () => {
    const wanted = await log(project.live, { path: 'b', customIdentifier: 'needle' })
    await log(project.live, { path: 'a', customIdentifier: 'needle' })
    await log(other.live, { customIdentifier: 'needle' })
    const single = (await api('GET', `/conversations/${wanted}`)).body
    const fitting: Record<string, string> = {
      projectId: String(project.id),
      versionUuid: String(single['versionUuid']).toUpperCase(),
      documentUuid: String(single['documentUuid']),
      path: '/b',
      status: 'completed',
      origin: 'log',
      customIdentifier: 'needle',
      from: String(single['createdAt']),
      to: String(single['createdAt']),
    }
    expect(uuids((await list(fitting)).items)).toEqual([wanted])
    const misfits: Record<string, string> = {
      projectId: String(other.id),
      versionUuid: '00000000-0000-4000-8000-000000000000',
      documentUuid: 'nonsense',
      path: 'a',
      status: 'running',
      origin: 'run',
      customIdentifier: 'Needle',
      from: new Date(Date.parse(String(single['createdAt'])) + 1).toISOString(),
      to: new Date(Date.parse(String(single['createdAt'])) - 1).toISOString(),
    }
    for (const [key, value] of Object.entries(misfits)) {
      expect(uuids((await list({ ...fitting, [key]: value })).items), key).not.toContain(wanted)
    }
  })

  it('paginates without gaps or duplicates while conversations are added', async () => {
    const mine = await createTestProject(api, { a: prompt })
    const made = await Promise.all(Array.from({ length: 7 }, () => log(mine.live)))
    const seen: string[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null && page < 9; page += 1) {
      const query = { projectId: String(mine.id), limit: '3', ...(cursor === '' ? {} : { cursor }) }
      const { items, nextCursor }: wire.ConversationPage = await list(query)
      seen.push(...uuids(items))
      cursor = nextCursor
      await log(mine.live)
    }
    expect(seen).toHaveLength(7)
    expect(new Set(seen)).toEqual(new Set(made))
    const { items } = await list({ projectId: String(mine.id) })
    const order = items.map(({ createdAt, uuid }) => `${createdAt} ${uuid}`)
    expect(order).toEqual([...order].sort().reverse())
  })

  it('returns 25 per page by default', async () => {
    const mine = await createTestProject(api, { a: prompt })
    await Promise.all(Array.from({ length: 26 }, () => log(mine.live)))
    const page = await list({ projectId: String(mine.id) })
    expect(page.items).toHaveLength(25)
    expect(page.nextCursor).not.toBeNull()
    const whole = await list({ projectId: String(mine.id), limit: '26' })
    expect(whole).toMatchObject({ nextCursor: null })
    expect(whole.items).toHaveLength(26)
  })

  it('returns an empty list for a range in the far past or future', async () => {
    expect((await list({ to: '0000-01-01T00:00:00Z' })).items).toEqual([])
    for (const from of ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59-23:59']) {
      expect((await list({ from })).items).toEqual([])
    }
    expect((await list({ from: '0000-01-01T00:00:00+23:59', limit: '1' })).items).toHaveLength(1)
  })

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['status=done', 'status'],
    ['from=yesterday', 'from'],
    ['to=2026-01-01', 'to'],
    ['cursor=', 'cursor'],
    ['cursor=v1.00000000.AAAA', 'cursor'],
  ])('refuses %s', async (query, key) => {
    const answer = await api('GET', `/conversations?${query}`)
    expect(refusalOf(answer)).toEqual({ status: 400, reason: 'invalid-query', path: key })
  })

  it('refuses a modified cursor', async () => {
    await log(project.live)
    const { nextCursor } = await list({ limit: '1' })
    const cursor = String(nextCursor)
    const changed = cursor.slice(0, -2) + (cursor.endsWith('AA') ? 'BA' : 'AA')
    expect((await api('GET', `/conversations?cursor=${changed}`)).status).toBe(400)
  })

  it('is empty for another tenant, and its cursors are not valid for other tenants', async () => {
    const foreign = apiCaller(server.url, await openTenant(server, 'conversations'))
    expect(await list({}, foreign)).toEqual({ items: [], nextCursor: null })
    const cursor = String((await list({ limit: '1' })).nextCursor)
    expect((await foreign('GET', `/conversations?cursor=${cursor}`)).status).toBe(400)
  })

  it('returns only the project of a restricted key', async () => {
    const restricted = apiCaller(server.url, await issueKey(api, { projectId: other.id, scopes: ['read'] }))
    const mine = await log(other.live)
    await log(project.live)
    const { items } = await list({}, restricted)
    expect(uuids(items)).toContain(mine)
    expect(new Set(items.map(({ projectId }) => projectId))).toEqual(new Set([other.id]))
  })
})

describe('run list', () => {
  const runs = async (projectId: number, query: Record<string, string> = {}, caller: Api = api) => {
    const answer = await caller('GET', `/projects/${projectId}/runs?${new URLSearchParams(query).toString()}`)
    expect(answer.status, answer.text).toBe(200)
    return RunPage.parse(answer.body)
  }
  const run = async ({ live }: TestProject, body: Record<string, unknown>) =>
    String((await api('POST', `${live}/documents/run`, { body })).body['uuid'])

  it('filters runs by each fact and pages without gaps', async () => {
    const mine = await createTestProject(api, { a: prompt, b: prompt, broken: '---\nprovider: nowhere\n---\nHello' })
    const first = await run(mine, { path: 'a', parameters: { z: 1, a: 2 }, customIdentifier: 'customer-1' })
    await api('POST', `/conversations/${first}/chat`, { body: { messages: [{ role: 'user', content: 'more' }] } })
    await run(mine, { path: 'b' })
    await api('POST', `${mine.live}/documents/run`, { body: { path: 'broken' } })

    const { items, nextCursor, scannedTo } = await runs(mine.id)
    expect(items.map(({ path, status }) => [path, status])).toEqual([
      ['broken', 'error'],
      ['b', 'completed'],
      ['a', 'completed'],
      ['a', 'completed'],
    ])
    expect({ nextCursor, scannedTo }).toEqual({ nextCursor: null, scannedTo: null })
    const [failed, , chat, begun] = items
    if (!failed || !chat || !begun) throw new Error('The project has four runs')
    expect(failed.error?.errorCode).toBe('missing_provider_error')
    expect(begun).toMatchObject({ via: 'api', mode: 'json', customIdentifier: 'customer-1', parametersState: 'kept' })
    expect(begun.author?.id).toBeGreaterThan(0)
    expect(begun.apiKey?.id).toBeGreaterThan(0)

    const found = async (query: Record<string, string>) => (await runs(mine.id, query)).items.map(({ uuid }) => uuid)
    expect(await found({ status: 'error' })).toEqual([failed.uuid])
    expect(await found({ status: 'error,stopped' })).toEqual([failed.uuid])
    expect(await found({ path: '/a' })).toEqual([chat.uuid, begun.uuid])
    expect(await found({ documentUuid: begun.documentUuid })).toEqual([chat.uuid, begun.uuid])
    expect(await found({ versionUuid: begun.versionUuid, limit: '1' })).toEqual([failed.uuid])
    expect(await found({ customIdentifier: 'customer-1' })).toEqual([chat.uuid, begun.uuid])
    expect(await found({ model: String(begun.model), path: 'a' })).toEqual([chat.uuid, begun.uuid])
    expect(await found({ uuid: begun.uuid.slice(0, 13) })).toEqual([begun.uuid])
    expect(await found({ uuid: first.slice(0, 8).toUpperCase() })).toEqual([chat.uuid, begun.uuid])
    expect(await found({ from: begun.createdAt, to: begun.createdAt })).toContain(begun.uuid)
    expect(await found({ author: 'me', via: 'api' })).toHaveLength(4)
    for (const none of [{ via: 'console' }, { author: '999' }, { author: 'x' }, { model: 'none' }, { minCost: '99' }])
      expect(await found(none as Record<string, string>)).toEqual([])
    expect(await found({ minDurationMs: '3600000' })).toEqual([])

    const paged: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await runs(mine.id, { limit: '1', ...(cursor === undefined ? {} : { cursor }) })
      paged.push(...page.items.map(({ uuid }) => uuid))
      cursor = page.nextCursor
    }
    expect(paged).toEqual(items.map(({ uuid }) => uuid))
    const { nextCursor: foreign } = await runs(mine.id, { limit: '1' })
    const refused = await api('GET', `/projects/${project.id}/runs?cursor=${foreign}`)
    expect(refusalOf(refused)).toEqual({ status: 400, reason: 'invalid-query', path: 'cursor' })

    const details = RunDetails.parse((await api('GET', `/runs/${begun.uuid}`)).body)
    expect(JSON.stringify(details.parameters)).toBe('{"z":1,"a":2}')
    expect(details.spans.map(({ kind }) => kind)).toEqual(['step', 'model'])
    expect(details.messageRange).toEqual([0, 2])
    expect((await api('GET', `/runs/${first}`)).body).toMatchObject({ uuid: chat.uuid, messageRange: [2, 4] })
    const ofConversation = (await api('GET', `/conversations/${first}/runs`)).body as unknown as wire.Run[]
    expect(ofConversation).toEqual([begun, chat])

    await api('DELETE', `/conversations/${first}`)
    expect(await found({})).toHaveLength(2)
    expect(refusalOf(await api('GET', `/runs/${begun.uuid}`))).toEqual({ status: 404, reason: 'unknown-run' })
  })

  it('reads a bounded number of runs, and continues where it stopped', async () => {
    const mine = await createTestProject(api, { a: prompt })
    const uuid = await run(mine, { path: 'a', tags: ['many'] })
    // In several statements: on a busy machine one of 10 s would count as a silent database.
    for (let first = 1; first <= 5_000; first += 1_000)
      await server.database.session.query(
        `INSERT INTO run (uuid, conversation_uuid, workspace_id, project_id, document_uuid, version_uuid, epoch, status, mode,
           first_event_id, created_at)
         SELECT gen_random_uuid(), r.conversation_uuid, r.workspace_id, r.project_id, r.document_uuid, r.version_uuid,
           i + 1, 'stopped', 'json', 1, r.created_at + i * interval '1 ms'
         FROM run r, generate_series($2::int, $2::int + 999) i WHERE r.conversation_uuid = $1 AND r.status = 'completed'`,
        [uuid, first],
      )
    const begun = (await api<wire.Run[]>('GET', `/conversations/${uuid}/runs`)).body[0]?.createdAt
    for (const query of [{ status: 'completed' }, { status: 'completed', tag: 'many' }]) {
      const page = await runs(mine.id, query)
      expect(page.items).toEqual([])
      if ('tag' in query) expect(page.scannedTo).toBe(begun)
      else expect(Date.parse(String(page.scannedTo))).toBeGreaterThan(Date.parse(String(begun)))
      const next = await runs(mine.id, { ...query, cursor: String(page.nextCursor) })
      expect(next.items).toMatchObject([{ conversationUuid: uuid }])
      expect(next.nextCursor).toBeNull()
    }
  })

  it('counts the newest 20,000 tags', async () => {
    const mine = await createTestProject(api, { a: prompt })
    const uuid = await run(mine, { path: 'a', tags: ['oldest'] })
    const most = 2_000
    const add = async (tag: string, count: number, afterMs: number) => {
      for (let added = 0; added < count; added += most)
        await server.database.session.query(
          `INSERT INTO conversation_tag (project_id, tag, at, conversation_uuid, author_id)
           SELECT t.project_id, $2, t.at + (i + $4::int) * interval '1 ms', t.conversation_uuid, t.author_id
           FROM conversation_tag t, generate_series(1, $3::int) i WHERE t.conversation_uuid = $1 AND t.tag = 'oldest'`,
          [uuid, tag, Math.min(most, count - added), afterMs + added],
        )
    }
    const counts = async () =>
      (await api<wire.TagUse[]>('GET', `/projects/${mine.id}/tags`)).body.map(
        (use) => `${use.tag} ${use.conversations}`,
      )
    await add('newer', 19_999, 0)
    expect(await counts()).toEqual(['newer 19999', 'oldest 1'])
    await add('newest', 1, 19_999)
    expect(await counts()).toEqual(['newer 19999', 'newest 1'])
  })

  it('finds runs by tag and feedback, in the order of their conversations', async () => {
    const mine = await createTestProject(api, { a: prompt })
    const label = async (uuid: string, body: Record<string, unknown>) => {
      const answer = await api('PUT', `/conversations/${uuid}`, { body })
      expect(answer.status, answer.text).toBe(200)
      return LabeledConversation.parse(answer.body)
    }
    const rate = (uuid: string, body: Record<string, unknown>) =>
      api('POST', `/conversations/${uuid}/feedback`, { body })
    const tagged = { path: 'a', tags: ['slow', 'checkout', 'slow'], parameters: { a: 1 } }
    const once = { body: tagged, headers: { 'idempotency-key': `tagged ${mine.id}` } }
    const first = String((await api('POST', `${mine.live}/documents/run`, once)).body['uuid'])
    expect((await api('POST', `${mine.live}/documents/run`, once)).body['uuid']).toBe(first)
    const second = await run(mine, { path: 'a', tags: ['wrong'] })
    expect(await label(second, { note: 'Too long' })).toMatchObject({ tags: ['wrong'], note: { text: 'Too long' } })
    // Two people at once.
    await Promise.all([
      label(second, { addTags: ['a', 'wrong'] }),
      label(second, { addTags: ['b'], removeTags: ['wrong'] }),
    ])
    expect((await label(second, { removeTags: ['c'] })).tags.filter((tag) => tag !== 'wrong')).toEqual(['a', 'b'])
    const many = Array.from({ length: 19 }, (_, at) => `t${at}`)
    const full = await api('PUT', `/conversations/${second}`, { body: { addTags: many, note: 'lost' } })
    expect(refusalOf(full)).toEqual({ status: 400, reason: 'invalid-body', path: 'addTags' })
    expect((await label(second, { tags: many, addTags: ['slow', 't1'] })).tags).toHaveLength(20)
    expect(await label(second, { tags: ['slow'] })).toMatchObject({ tags: ['slow'], note: { text: 'Too long' } })
    await api('POST', `/conversations/${first}/chat`, { body: { messages: [{ role: 'user', content: 'more' }] } })
    const { items } = await runs(mine.id)
    const [chat, later, begun] = items.map(({ uuid }) => uuid)
    const found = async (query: Record<string, string>) => (await runs(mine.id, query)).items.map(({ uuid }) => uuid)

    expect(items.map(({ tags }) => tags)).toEqual([['checkout', 'slow'], ['slow'], ['checkout', 'slow']])
    expect(await found({ tag: 'slow' })).toEqual([later, chat, begun])
    const paged: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await runs(mine.id, { tag: 'slow', limit: '1', ...(cursor === undefined ? {} : { cursor }) })
      paged.push(...page.items.map(({ uuid }) => uuid))
      cursor = page.nextCursor
    }
    expect(paged).toEqual([later, chat, begun])
    const plain = await runs(mine.id, { limit: '1' })
    const mixed = await api('GET', `/projects/${mine.id}/runs?tag=slow&cursor=${plain.nextCursor}`)
    expect(refusalOf(mixed)).toEqual({ status: 400, reason: 'invalid-query', path: 'cursor' })
    const uses = (await api<wire.TagUse[]>('GET', `/projects/${mine.id}/tags`)).body
    expect(uses.map(({ tag, conversations }) => [tag, conversations])).toEqual([
      ['slow', 2],
      ['checkout', 1],
    ])

    const rated = await Promise.all(
      Array.from({ length: count(8, 100) }, (_, at) => rate(first, { value: at % 2 ? 'up' : 'down', by: 'user-1' })),
    )
    expect(rated.filter(({ status }) => status !== 200)).toEqual([])
    expect((await rate(first, { value: 'down', comment: 'Wrong', by: 'user-1' })).body).toMatchObject({
      comment: 'Wrong',
    })
    await rate(second, { value: 'up' })
    expect(await found({ feedback: 'down' })).toEqual([chat, begun])
    expect(await found({ feedback: 'up', tag: 'slow', path: 'a', from: '2026-01-01T00:00:00Z' })).toEqual([later])
    expect(await found({ feedback: 'up', tag: 'checkout' })).toEqual([])
    expect(await found({ tag: 'slow', documentUuid: String(items[0]?.documentUuid), uuid: second })).toEqual([later])
    const given = (await api<wire.Annotation[]>('GET', `/conversations/${first}/annotations`)).body
    expect(given).toMatchObject([{ score: 0, hasPassed: false, metadata: { reason: 'Wrong', by: 'user-1' } }])
    const evaluations = (await api<wire.Evaluation[]>('GET', `/evaluations?projectId=${mine.id}`)).body
    expect(evaluations).toMatchObject([{ name: 'Feedback', type: 'human', metric: 'binary' }])

    expect(await label(first, { tags: [], note: '' })).toMatchObject({ tags: [], note: null })
    const details = RunDetails.parse((await api('GET', `/runs/${second}`)).body)
    expect(details).toMatchObject({ feedback: 'up', note: { text: 'Too long', author: { id: items[0]?.author?.id } } })
    expect(await found({ feedback: 'down' })).toEqual([chat, begun])

    const content = await runs(mine.id, { include: 'content' })
    expect(content.items.map(({ parameters }) => parameters)).toEqual([null, {}, { a: 1 }])
    expect(content.items.map(({ messages }) => messages?.map(({ role }) => role).join())).toEqual([
      'user,assistant',
      'system,assistant',
      'system,assistant',
    ])
    const tooMany = await api('GET', `/projects/${mine.id}/runs?include=content&limit=21`)
    expect(refusalOf(tooMany)).toEqual({ status: 400, reason: 'invalid-query', path: 'limit' })
    expect(refusalOf(await api('PUT', `/conversations/${first}`, { body: { note: 'ä'.repeat(8_193) } }))).toEqual({
      status: 400,
      reason: 'invalid-body',
      path: 'note',
    })
  })

  it('records the overrides of a run, which rank below the attributes of a step, and its chats keep them', async () => {
    const steps = '---\nprovider: demo\nmodel: front\n---\n<step>One</step><step model="own">Two</step>'
    const mine = await createTestProject(api, { a: '---\nprovider: demo\nmodel: front\ntop_p: 1\n---\nHello', steps })
    const overrides = { model: 'other', topP: 0.5 }
    const begun = await run(mine, { path: 'a', overrides })
    await api('POST', `/conversations/${begun}/chat`, { body: { messages: [{ role: 'user', content: 'more' }] } })
    await run(mine, { path: 'steps', overrides })
    const queued = await run(mine, { path: 'a', background: true, overrides })
    await api('POST', `/conversations/${queued}/attach`, { body: {} })
    await run(mine, { path: 'a' })
    const { items } = await runs(mine.id)
    expect(items.map((item) => [item.path, item.model, item.overrides])).toEqual([
      ['a', 'front', null],
      ['a', 'other', overrides],
      ['steps', 'own', overrides],
      ['a', 'other', overrides],
      ['a', 'other', overrides],
    ])
    const body = { path: 'a', overrides }
    const runner = apiCaller(server.url, await issueKey(api, { scopes: ['run'] }))
    expect(refusalOf(await runner('POST', `${mine.live}/documents/run`, { body }))).toEqual({
      status: 403,
      reason: 'missing-scope',
    })
    expect((await runner('POST', `${mine.live}/documents/run`, { body: { path: 'a', overrides: {} } })).status).toBe(
      200,
    )
    const unknownProvider = { path: 'a', overrides: { provider: 'nowhere' } }
    expect((await api('POST', `${mine.live}/documents/run`, { body: unknownProvider })).status).toBe(422)
  })
})
