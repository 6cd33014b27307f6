import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestProject, issueKey } from '../http/scenario.ts'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import type { FakeReply } from '../support/fake-provider.ts'
import { type OtlpCollector, otlpCollector } from '../support/otlp-collector.ts'
import { callTool, type McpCaller, mcpCaller, toolNames } from './mcp-call.ts'

const answerSchema =
  'schema: {type: object, properties: {answer: {type: string}}, required: [answer], additionalProperties: false}\n'
const prompts = {
  'support/reply': prompt(
    '<user>{{ ticket }}</user>\n',
    `description: Answers a ticket\nparameters: {ticket: {type: text, required: true}}\n${answerSchema}`,
  ),
  unchecked: prompt('<user>Hi</user>\n', `description: Trusts the model\nvalidate: false\n${answerSchema}`),
  plain: prompt('<user>{{ name }}</user>\n'),
  'with/tools': prompt('<user>Hi</user>\n', 'description: Asks\ntools: {lookup: {description: x}}\n'),
}

let bench: RunBench
let collector: OtlpCollector
let call: McpCaller
let projectId: number

beforeAll(async () => {
  collector = await otlpCollector()
  bench = await runBench(
    {},
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      STET_TRACE_CONTENT: 'on',
      STET_MCP_PUBLISH: 'on',
      STET_GRACE_MS: '3600000',
    },
  )
  const project = await createTestProject(bench.api, prompts)
  projectId = project.id
  const scopes = ['read', 'run', 'publish', 'write']
  const key = await issueKey(bench.api, { scopes, projectId, plan: 'custom', limit: 10_000 })
  call = mcpCaller(bench.server.url, key)
})
afterAll(async () => {
  await bench?.close()
  await collector?.close()
})

const object: FakeReply = { text: '{"answer":"Yes"}' }
const reply = { ticket: 'It fails' }

it('offers prompts with a description and without client tools', async () => {
  expect((await toolNames(call)).filter((name) => !name.startsWith('stet_'))).toEqual(['support__reply', 'unchecked'])
  expect((await callTool(call, 'plain')).error?.message).toBe('Unknown tool: plain')
})

it('returns the object of a prompt with a schema, and what the run cost', async () => {
  bench.fake.enqueue(object)
  const { data, texts, meta } = await callTool(call, 'support__reply', reply)
  expect(data).toEqual({ answer: 'Yes' })
  expect(JSON.parse(texts[0] ?? '')).toEqual(data)
  expect(meta).toMatchObject({ 'stet/version': 1, 'stet/cost': expect.any(Number), 'stet/usage': expect.any(Object) })
  const conversation = await callTool(call, 'stet_get_conversation', { uuid: meta['stet/conversationUuid'] })
  expect(conversation.data).toMatchObject({ status: 'completed', origin: 'run', customIdentifier: null })
})

it('refuses an object that clients would refuse', async () => {
  bench.fake.enqueue({ text: '{"answer":7}' })
  const { isError, texts } = await callTool(call, 'unchecked')
  expect([isError, texts[0]]).toEqual([true, expect.stringContaining('invalid_response_format_error')])
})

it.each([
  ['a missing argument', {}, 'ticket'],
  ['an unknown argument', { ...reply, more: 1 }, 'more'],
])('refuses %s before it runs anything', async (_, args, named) => {
  const requests = bench.fake.requests.length
  const { error } = await callTool(call, 'support__reply', args)
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(named) })
  expect(bench.fake.requests).toHaveLength(requests)
})

it.each(['legacy', 'modern'] as const)('shows progress to a %s client that asks for it', async (era) => {
  bench.fake.enqueue(object)
  const params = { name: 'support__reply', arguments: reply, _meta: { progressToken: 'p' } }
  const { notifications, result } = await call('tools/call', params, { era })
  expect(notifications[0]).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 'p', progress: 1, message: expect.stringMatching(/^(step 1|model call 1: )/) },
  })
  expect(result?.['structuredContent']).toEqual({ answer: 'Yes' })
  bench.fake.enqueue(object)
  const { notifications: none } = await call('tools/call', { name: 'support__reply', arguments: reply }, { era })
  expect(none).toEqual([])
})

it.each(['legacy', 'modern'] as const)('stops the run at once when a %s client closes the response', async (era) => {
  bench.fake.enqueue({ raw: [' '], end: 'never' })
  const [count, aborted] = [bench.fake.requests.length, bench.fake.aborted]
  const controller = new AbortController()
  const params = { name: 'support__reply', arguments: reply }
  const left = call('tools/call', params, { era, signal: controller.signal }).catch(() => 'left')
  await bench.fake.waitForRequest(count + 1)
  controller.abort()
  expect(await left).toBe('left')
  await bench.fake.waitForAbort(aborted + 1)
})

it('shows a failed run to the model as a result', async () => {
  bench.fake.enqueue({ status: 400, body: { error: { message: 'No such model' } } })
  const { isError, texts, meta } = await callTool(call, 'stet_run_prompt', { path: 'plain', parameters: { name: 'x' } })
  expect([isError, texts[0]]).toEqual([true, expect.stringMatching(/^ai_\w+: /)])
  expect(meta['stet/conversationUuid']).toEqual(expect.any(String))
  const unknown = await callTool(call, 'stet_run_prompt', { path: 'nothing' })
  expect([unknown.isError, unknown.texts[0]]).toEqual([true, expect.stringMatching(/^NotFoundError: /)])
})

it('runs any prompt, with messages, or in the background', async () => {
  bench.fake.enqueue({ text: 'Hello' })
  const messages = [{ role: 'user', content: 'And now?' }]
  const { data } = await callTool(call, 'stet_run_prompt', { path: 'plain', parameters: { name: 'A' }, messages })
  expect(data).toMatchObject({ text: 'Hello', toolRequests: [], conversationUuid: expect.any(String) })
  bench.fake.enqueue({ raw: [' '], end: 'never' })
  const queued = await callTool(call, 'stet_run_prompt', { path: 'plain', background: true })
  const { conversationUuid: uuid } = queued.data
  const stopped = await callTool(call, 'stet_stop_run', { uuid })
  expect(stopped.data).toEqual({ stopped: true, status: 'stopped' })
  const wrong = await callTool(call, 'stet_run_prompt', { path: 'plain', messages: [{ role: 'user', content: 7 }] })
  expect(wrong.error).toMatchObject({ code: -32602, message: expect.stringMatching(/^messages: /) })
})

it.each(['read', 'run', 'write', 'publish', 'admin'])(
  'shows a key with %s the publication if it may publish',
  async (scope) => {
    const key = await issueKey(bench.api, { scopes: [scope], projectId, plan: 'custom', limit: 10_000 })
    const names = await toolNames(mcpCaller(bench.server.url, key))
    expect(names.includes('stet_publish_draft')).toBe(scope === 'publish' || scope === 'admin')
  },
)

it.each([
  ['read', (uuid: unknown) => `The resource stet://conversations/${uuid}`],
  ['run', (uuid: unknown) => `GET /api/v3/conversations/${uuid}`],
])('cuts a long answer, and names what a key with %s may read', async (scope, whole) => {
  const plan = { projectId, plan: 'custom', limit: 1_000 }
  const own = mcpCaller(bench.server.url, await issueKey(bench.api, { scopes: [...new Set(['run', scope])], ...plan }))
  bench.fake.enqueue({ text: `{"answer":"${'x'.repeat(300_000)}"}` })
  const { meta } = await callTool(own, 'support__reply', reply)
  const uuid = meta['stet/conversationUuid']
  const { texts } = await callTool(own, 'stet_get_conversation', { uuid })
  expect(texts[0]?.split('\n').at(-1)).toBe(`[Cut at 256 KB. ${whole(uuid)} has all of it.]`)
})

it('publishes a draft where the operator allows it', async () => {
  expect(await toolNames(call)).toContain('stet_publish_draft')
  const { data } = await callTool(call, 'stet_create_draft', { name: 'next' })
  const draft = String(data['draft'])
  await callTool(call, 'stet_write_prompt', { draft, path: 'new', content: prompt('<user>Hi</user>'), baseHash: '' })
  const published = await callTool(call, 'stet_publish_draft', { draft, title: 'Next' })
  expect(published.data).toEqual({ version: draft, number: 2 })
})

it('names the tool and the prompt on the span of the request, and the caller of `_meta` as its parent', async () => {
  bench.fake.enqueue(object)
  const trace = 'c'.repeat(32)
  const _meta = { traceparent: `00-${trace}-b7ad6b7169203331-01` }
  const headers = { traceparent: `00-${'d'.repeat(32)}-b7ad6b7169203331-01` }
  const params = { name: 'support__reply', arguments: reply, _meta }
  await call('tools/call', params, { era: 'modern', headers })
  const spans = () => collector.spans.filter(({ traceId }) => traceId === trace)
  const named = (wanted: string) => spans().find(({ name }) => name === wanted)?.attributes
  await expect.poll(() => spans().map(({ name }) => name)).toContain('tools/call support__reply')
  expect(named('tools/call support__reply')).toMatchObject({
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2026-07-28',
    'gen_ai.tool.name': 'support__reply',
    'gen_ai.prompt.name': 'support/reply',
    'http.route': '/mcp',
  })
  expect(named('run')).toMatchObject({
    'gen_ai.prompt.version': '2',
    'gen_ai.prompt.variable.ticket': 'It fails',
  })
})

it('ends the page of a list before a text result would be cut, with a cursor', async () => {
  const about = prompt('<user>Hi</user>', `description: ${'x'.repeat(60_000)}\n`)
  const asks = prompt('<user>Hi</user>\n', 'tools: {lookup: {description: x}}\n')
  const paths = ['a', 'b', 'c', 'd', 'e']
  const project = await createTestProject(bench.api, {
    ...Object.fromEntries(paths.map((path) => [path, about])),
    'z/asks': asks,
  })
  const key = await issueKey(bench.api, {
    scopes: ['read', 'run'],
    projectId: project.id,
    plan: 'custom',
    limit: 1_000,
  })
  const own = mcpCaller(bench.server.url, key)
  const uuids: unknown[] = []
  for (const id of ['1', '2', '3']) {
    bench.fake.enqueue({ toolCalls: [{ id, name: 'lookup', arguments: { text: 'x'.repeat(130_000) } }] })
    uuids.unshift((await callTool(own, 'stet_run_prompt', { path: 'z/asks' })).data['conversationUuid'])
  }
  type Page = Record<string, unknown>
  const lists: Record<string, { named: string; page(cursor: Page): Promise<Page>; count: number }> = {
    prompts: { named: 'name', count: 2, page: async (at) => (await own('prompts/list', at)).result ?? {} },
    resources: { named: 'name', count: 2, page: async (at) => (await own('resources/list', at)).result ?? {} },
    stet_list_prompts: {
      named: 'path',
      count: 2,
      page: async (at) => (await callTool(own, 'stet_list_prompts', at)).data,
    },
    stet_list_conversations: {
      ...{ named: 'uuid', count: 3 },
      page: async (at) => (await callTool(own, 'stet_list_conversations', at)).data,
    },
  }
  for (const [list, { named, page, count }] of Object.entries(lists)) {
    const found: unknown[] = []
    let pages = 0
    let cursor: Page = {}
    for (;;) {
      const { nextCursor, ...body } = await page(cursor)
      const entries = body[list.replace('stet_list_', '')] as Page[]
      found.push(...entries.map((each) => each[named]))
      pages += 1
      if (nextCursor == null) break
      cursor = { cursor: nextCursor }
    }
    expect([list, pages, found]).toEqual([list, count, list.endsWith('conversations') ? uuids : [...paths, 'z/asks']])
  }
})

it('reads a comparison only up to the size of a result, and compares long texts only so far', async () => {
  const lines = (word: string, count: number) => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('')
  const { id, draft } = await createTestProject(bench.api, { a: lines('old', 1_000) })
  const key = await issueKey(bench.api, { scopes: ['read'], projectId: id, plan: 'custom', limit: 1_000 })
  const own = mcpCaller(bench.server.url, key)
  const versions = draft.slice(0, draft.lastIndexOf('/'))
  const { body } = await bench.api('POST', versions, { body: { name: 'long' } })
  const head = String(body['uuid'])
  const push = (changes: object[]) => bench.api('POST', `${versions}/${head}/push`, { body: { changes } })
  const small = await push([{ path: 'a', status: 'modified', content: lines('new', 1_000) }])
  expect(small.status, small.text).toBe(200)
  const { data } = await callTool(own, 'stet_diff', { head })
  expect(data['unified']).toBe('--- a/a\n+++ b/a\n(too different to compare by line)\n')
  const more = ['b', 'c', 'd', 'e'].map((path) => ({ path, status: 'added', content: 'x'.repeat(200_000) }))
  expect((await push(more)).status).toBe(200)
  const { texts } = await callTool(own, 'stet_diff', { head })
  expect(texts[0]?.endsWith('\n[Cut at 256 KB. Ask for less.]')).toBe(true)
  // The server reads no text behind the cut.
  expect(texts[0]?.length).toBeLessThan(263_000)
  expect(texts[0]).not.toContain('+++ b/d')
})
