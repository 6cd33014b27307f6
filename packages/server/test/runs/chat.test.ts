import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ApiCall } from '../http/api-call.ts'
import { issueKey, openTenant } from '../http/scenario.ts'
import { gate } from '../support/gate.ts'
import { assistantMessage, prompt, type RunBench, runBench, userMessage } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    hello: prompt('<user>Hi</user>', 'temperature: 0.2\n'),
    tools: prompt('<user>Weather?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n'),
    blank: '---\nprovider:\nmodel:\n---\nHi',
    ordered: prompt(
      '<user>Think</user>',
      'schema: { type: object, properties: { reasoning: { type: string }, a: { type: string } } }\n',
    ),
  })
})
afterAll(() => bench.close())

const ask = (text: string) => ({ messages: [{ role: 'user', content: text }] })

async function startConversation(): Promise<string> {
  bench.fake.enqueue({ text: 'Hello' })
  return String((await bench.run('hello')).body['uuid'])
}

async function requestTools(): Promise<{ uuid: string; ids: string[] }> {
  const calls = ['a', 'b'].map((id) => ({ id, name: 'get_weather', arguments: { id } }))
  bench.fake.enqueue({ toolCalls: calls })
  const { body } = await bench.run('tools')
  return { uuid: String(body['uuid']), ids: (body['toolRequests'] as { id: string }[]).map(({ id }) => id) }
}

const result = (toolCallId: unknown, value: unknown) => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 'get_weather', result: value }],
})

it('continues with the whole conversation and its original configuration', async () => {
  const uuid = await startConversation()
  await bench.api('POST', `${bench.live}/documents/create-or-update`, {
    body: { path: 'hello', prompt: prompt('<user>Changed</user>', 'temperature: 0.9\n'), force: true },
  })
  bench.fake.enqueue({ text: 'Bonjour' })
  const { status, body } = await bench.chat(uuid, ask('In French?'))
  expect(status).toBe(200)
  const conversation = [
    userMessage('Hi'),
    assistantMessage('Hello'),
    userMessage('In French?'),
    assistantMessage('Bonjour'),
  ]
  expect(body).toMatchObject({ uuid, conversation, toolRequests: [] })
  expect(bench.fake.requests.at(-1)?.body).toMatchObject({ temperature: 0.2, model: 'gpt-4o' })
  expect(bench.fake.requests.at(-1)?.body['messages']).toHaveLength(3)
  bench.server.deps.runs.active.forget(uuid)
  expect(await bench.conversation(uuid)).toMatchObject({ conversation, status: 'completed' })
})

it("uses the project's defaults for keys that the prompt omits", async () => {
  const project = bench.live.split('/versions/')[0]
  await bench.api('PUT', `${project}`, { body: { defaultProvider: 'openai', defaultModel: 'of-the-project' } })
  const { body } = await bench.run('blank')
  await bench.api('PUT', `${project}`, { body: { defaultProvider: '', defaultModel: '' } })
  expect((await bench.chat(body['uuid'], ask('More'))).body).toMatchObject({ response: { model: 'of-the-project' } })
  expect(bench.fake.requests.slice(-2).map((request) => request.body['model'])).toEqual([
    'of-the-project',
    'of-the-project',
  ])
})

it('keeps the key order of schemas, tool results and model responses read from the database', async () => {
  bench.fake.enqueue({ text: '{"reasoning":"r","a":"1"}' })
  const run = (await bench.run('ordered')).body
  const uuid = String(run['uuid'])
  bench.server.deps.runs.active.forget(uuid)
  const read = await bench.post(`/conversations/${uuid}/attach`, {})
  expect(await read.text()).toContain('"object":{"reasoning":"r","a":"1"}')
  bench.fake.enqueue({ text: '{"reasoning":"s","a":"2"}' })
  await bench.chat(uuid, ask('Again'))
  const sent = JSON.stringify(bench.fake.requests.at(-1)?.body['response_format'])
  expect(sent.indexOf('"reasoning"')).toBeGreaterThan(0)
  expect(sent.indexOf('"reasoning"')).toBeLessThan(sent.indexOf('"a"'))

  const { uuid: asking, ids } = await requestTools()
  bench.fake.enqueue({ text: 'Sunny' }, { text: 'Yes' })
  await bench.chat(asking, { messages: ids.map((id) => result(id, { z: 1, a: 2 })) })
  bench.server.deps.runs.active.forget(asking)
  expect(JSON.stringify(await bench.conversation(asking))).toContain('{"z":1,"a":2}')
  await bench.chat(asking, ask('Sure?'))
  expect(JSON.stringify(bench.fake.requests.at(-1)?.body['messages'])).toContain('{\\"z\\":1,\\"a\\":2}')
})

it('accepts tool results for their calls, and gives all other calls an error result', async () => {
  const { uuid, ids } = await requestTools()
  expect(await bench.conversation(uuid)).toMatchObject({
    status: 'completed',
    toolRequests: [{ id: ids[0] }, { id: ids[1] }],
  })
  bench.fake.enqueue({ text: 'Sunny' })
  const { body } = await bench.chat(uuid, { messages: [result(ids[1], { sky: 'blue' })] })
  const [, , missing, given] = body['conversation'] as { role: string; content: Record<string, unknown>[] }[]
  expect(missing).toEqual({
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: ids[0],
        toolName: 'get_weather',
        result: 'No result was given',
        isError: true,
      },
    ],
  })
  expect(given).toEqual(result(ids[1], { sky: 'blue' }))
  expect((body['conversation'] as unknown[]).at(-1)).toEqual(assistantMessage('Sunny'))
})

it('refuses a result without its call and changes nothing', async () => {
  const { uuid } = await requestTools()
  const before = await bench.conversation(uuid)
  const { status, headers, body } = await bench.chat(uuid, { messages: [result('call_unknown', 1)] })
  expect(status).toBe(400)
  expect(headers.get('x-conversation-uuid')).toBe(uuid)
  expect(body).toMatchObject({ reason: 'unknown-tool-call', details: { toolCallId: 'call_unknown' } })
  expect(await bench.conversation(uuid)).toEqual(before)
})

it('returns 409 for other chats while a run is active', async () => {
  const uuid = await startConversation()
  const before = bench.fake.requests.length
  const { opened, open } = gate()
  bench.fake.enqueue({ text: 'slow', gate: opened })
  let refused = 0
  const answers = Array.from({ length: 8 }, async () => {
    const answer = await bench.chat(uuid, ask('Now'))
    if (answer.status === 409) refused += 1
    return answer
  })
  await bench.fake.waitForRequest(before + 1)
  // All chats must be decided before this run may end, because a chat after its end would succeed.
  await expect.poll(() => refused, { timeout: 20_000 }).toBe(7)
  const late = await bench.chat(uuid, ask('Late'))
  expect(late.status).toBe(409)
  expect(late.headers.get('retry-after')).toBe('1')
  expect(late.headers.get('x-conversation-uuid')).toBe(uuid)
  expect(late.body).toMatchObject({ reason: 'conversation-busy' })
  expect(await bench.conversation(uuid)).toMatchObject({ status: 'running', endedAt: null })
  open()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(statuses.filter((status) => status === 409)).toHaveLength(7)
  expect(bench.fake.requests).toHaveLength(before + 1)
})

it("keeps a failed chat's question and partial answer", async () => {
  const uuid = await startConversation()
  bench.fake.enqueue({ deltas: ['half ', 'an answer'], cut: 1 })
  const chat = await bench.streamChat(uuid, ask('Go on'))
  expect(chat.last['type']).toBe('chain-error')
  const conversation = [userMessage('Hi'), assistantMessage('Hello'), userMessage('Go on'), assistantMessage('half ')]
  expect(chat.last['messages']).toEqual([userMessage('Changed'), ...conversation.slice(1)])
  expect(await bench.conversation(uuid)).toMatchObject({ status: 'error', error: { errorCode: 'ai_run_error' } })
  bench.fake.enqueue({ text: 'again' })
  expect((await bench.chat(uuid, ask('Try again'))).status).toBe(200)
})

it('names the conversation in every refusal of chat and attach if the caller may see it', async () => {
  const uuid = await startConversation()
  const json = { 'content-type': 'application/json' }
  const refusals: [number, ApiCall][] = [
    [400, { body: { messages: 'x', stream: 'x' } }],
    [400, { body: '{', headers: json }],
    [415, { body: 'x', headers: { 'content-type': 'text/plain' } }],
    [400, { body: `{"messages":[],"stream":"\\u0000"}`, headers: json }],
  ]
  const foreign = await openTenant(bench.server, 'names of conversations')
  for (const route of ['chat', 'attach']) {
    for (const [status, call] of refusals) {
      const answer = await bench.api('POST', `/conversations/${uuid.toUpperCase()}/${route}`, call)
      expect(answer.status, answer.text).toBe(status)
      expect(answer.headers.get('x-conversation-uuid')).toBe(uuid)
      const unseen = await bench.api('POST', `/conversations/${uuid}/${route}`, { ...call, key: foreign })
      expect(unseen.status).toBe(status)
      expect(unseen.headers.has('x-conversation-uuid')).toBe(false)
    }
    const reader = await issueKey(bench.api, { scopes: ['read'] })
    const forbidden = await bench.api('POST', `/conversations/${uuid}/${route}`, { body: {}, key: reader })
    expect(forbidden.status).toBe(403)
    expect(forbidden.headers.has('x-conversation-uuid')).toBe(false)
  }
})
