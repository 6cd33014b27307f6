import { Conversation, LogEntry, RunResult } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTestProject, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const prompt = '---\nprovider: demo\nmodel: demo\n---\n/* note */Answer {{ name }}'

const { server, api } = await sharedServer()
let project: TestProject

beforeAll(async () => {
  project = await createTestProject(api, { 'support/reply': prompt })
})

async function record(body: Record<string, unknown>): Promise<wire.LogEntry> {
  const answer = await api('POST', `${project.live}/documents/logs`, { body: { path: 'support/reply', ...body } })
  expect(answer.status, answer.text).toBe(200)
  expect(LogEntry.parse(answer.body)).toEqual(answer.body)
  return LogEntry.parse(answer.body)
}

const conversationOf = async (uuid: string) => Conversation.parse((await api('GET', `/conversations/${uuid}`)).body)

describe('external log', () => {
  it('stores the given data of the execution', async () => {
    const { body: document } = await api('GET', `${project.live}/documents/support/reply`)
    const { body: version } = await api('GET', project.live)
    const parameters = { name: 'Ada', nested: { list: [1, null, 'é'] } }
    const entry = await record({ messages: [], parameters, customIdentifier: 'ticket-1', duration: 1200 })
    expect(entry).toMatchObject({
      documentUuid: document['documentUuid'],
      commitId: version['id'],
      contentHash: document['contentHash'],
      resolvedContent: document['resolvedContent'],
      parameters,
      customIdentifier: 'ticket-1',
      duration: 1200,
      source: 'api',
    })
    expect(entry.promptSpan.traceId).toBe(entry.completionSpan.traceId)
    expect(entry.promptSpan.id).not.toBe(entry.completionSpan.id)
    const rows = await server.database.session.query(
      'SELECT id, parameters, duration_ms FROM log_entry WHERE conversation_uuid = $1',
      [entry.uuid],
    )
    expect(rows.rows).toEqual([{ id: entry.id, parameters, duration_ms: 1200 }])
  })

  it('creates a completed conversation without a run', async () => {
    const messages = [
      { role: 'system', content: 'Be kind' },
      { role: 'user', content: [{ type: 'text', content: 'Hello' }] },
    ]
    const entry = await record({ messages, response: 'Hi Ada!' })
    expect(entry).toMatchObject({ parameters: {}, customIdentifier: null, duration: null })
    const conversation = await conversationOf(entry.uuid)
    expect(conversation).toMatchObject({
      uuid: entry.uuid,
      origin: 'log',
      status: 'completed',
      error: null,
      toolRequests: [],
      path: 'support/reply',
      contentHash: entry.contentHash,
      cost: 0,
      tokenUsage: { totalTokens: 0 },
      endedAt: entry.createdAt,
    })
    expect(conversation.conversation).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be kind' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hi Ada!' }] },
    ])
    const runs = await server.database.session.query('SELECT 1 FROM run WHERE conversation_uuid = $1', [entry.uuid])
    expect(runs.rows).toEqual([])
  })

  it('can be continued with a chat', async () => {
    const { uuid } = await record({ messages: [{ role: 'user', content: 'Hello' }], response: 'Hi!' })
    for (const text of ['And now?', 'And then?']) {
      const chat = await api('POST', `/conversations/${uuid}/chat`, {
        body: { messages: [{ role: 'user', content: text }] },
      })
      expect(chat.status, chat.text).toBe(200)
      expect(RunResult.parse(chat.body).conversation.slice(0, 2)).toEqual([
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Hi!' }] },
      ])
    }
    const conversation = await conversationOf(uuid)
    expect(conversation).toMatchObject({ origin: 'log', status: 'completed' })
    expect(conversation.conversation).toHaveLength(6)
    expect(conversation.tokenUsage.totalTokens).toBeGreaterThan(0)
  })

  it('can refer to a draft, or to a prompt that does not compile', async () => {
    const draft = await project.newDraft()
    await api('POST', `${draft}/documents`, { body: { path: 'broken', prompt: '{{' } })
    const answer = await api('POST', `${draft}/documents/logs`, { body: { path: 'broken', messages: [] } })
    expect(answer).toMatchObject({ status: 200, body: { resolvedContent: '{{' } })
  })

  it('gets a unique id when recorded concurrently', async () => {
    const entries = await Promise.all(Array.from({ length: 20 }, () => record({ messages: [] })))
    expect(new Set(entries.map(({ id }) => id)).size).toBe(20)
    expect(new Set(entries.map(({ promptSpan }) => promptSpan.traceId)).size).toBe(20)
  })
})
