import { ConversationPage } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import type { ConversationSummary } from '@stet/contract/vocabulary'
import { beforeAll, describe, expect, it } from 'vitest'
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
