import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type CollectedSpan, type OtlpCollector, otlpCollector, treeOf } from '../support/otlp-collector.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceIdOf = (number: number) => `${number}${traceId.slice(1)}`
const callerSpan = 'b7ad6b7169203331'
const tracedBy = (id: string) => ({ traceparent: `00-${id}-${callerSpan}-01` })
const traced = tracedBy(traceId)
const untraced = { traceparent: `00-${traceId}-${callerSpan}-00` }

const secretPrompt = 'Whisper the secret prompt'
const secretParameter = 'parameter-of-ada'
const secretAnswer = 'The secret answer'
const secretArgument = 'secret-bees'

const prompts = {
  hello: prompt(`<user>${secretPrompt} to {{ name }}.</user>`, 'temperature: 0.5\n'),
  computed: prompt('<user>{{ 1 + 2 }}</user>'),
  lead: prompt('<user>Lead</user>', 'agents: [helper]\ntools: [latitude/search]\n'),
  helper: prompt('<user>Help with {{ topic }}</user>', 'name: helper\n'),
}
const run = 'POST /projects/:projectId/versions/:versionUuid/documents/run'
const parameters = { name: secretParameter }
const tools = { STET_TOOLS: fileURLToPath(new URL('../support/server-tools.mjs', import.meta.url)) }

/** Shared by the tests that use traces of their own. */
let collector: OtlpCollector
let bench: RunBench
beforeAll(async () => {
  collector = await otlpCollector()
  bench = await runBench(prompts, {
    ...tools,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'prompts',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
  })
})
afterAll(() => bench.close().finally(collector.close))

async function open(environment: Record<string, string> = {}, isHanging = false) {
  const collector = await otlpCollector({ isHanging })
  onTestFinished(() => collector.close())
  const bench = await runBench(prompts, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment })
  let isOpen = true
  const close = async () => {
    if (isOpen) await bench.close()
    isOpen = false
  }
  onTestFinished(close)
  return { collector, bench, close }
}

const named = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name)
const only = (spans: readonly CollectedSpan[], name: string) => {
  const [span, ...others] = named(spans, name)
  if (!span || others.length > 0) throw new Error(`There are ${others.length + (span ? 1 : 0)} spans '${name}'`)
  return span
}

/** Waits until the trace of the caller has as many spans. */
async function callersTrace(count: number, id = traceId, from = collector): Promise<CollectedSpan[]> {
  const spans = () => from.spans.filter((span) => span.traceId === id)
  await expect.poll(() => spans().length).toBeGreaterThanOrEqual(count)
  return spans()
}

it('traces a run from its request to the provider and the database', async () => {
  bench.fake.enqueue({ text: secretAnswer })
  const answer = await bench.run('hello', { parameters }, traced)
  expect(answer.status).toBe(200)
  const spans = await callersTrace(6)
  expect(treeOf(spans)).toEqual([
    run,
    ...['  database batch', '  render template', '  run', '    chat gpt-4o', '    database batch'],
  ])
  const request = only(spans, run)
  expect(request).toMatchObject({ parentSpanId: callerSpan, kind: 2, status: 0 })
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': run.slice(5),
    'http.response.status_code': 200,
    'stet.request_id': answer.headers.get('x-request-id'),
  })
  const uuid = String(answer.body['uuid'])
  expect(only(spans, 'run').attributes).toMatchObject({
    'gen_ai.conversation.id': uuid,
    'stet.run.mode': 'json',
    'stet.run.status': 'completed',
    'stet.prompt.path': 'hello',
  })
  const chat = only(spans, 'chat gpt-4o')
  expect(chat).toMatchObject({ kind: 3, status: 0 })
  expect(chat.attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.request.temperature': 0.5,
    'gen_ai.output.type': 'text',
    'gen_ai.conversation.id': uuid,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 8,
    'stet.provider_key': 'openai',
    'stet.prompt.path': 'hello',
    'stet.prompt.content_hash': expect.any(String),
    'stet.version.uuid': expect.any(String),
    'gen_ai.prompt.name': 'hello',
    'gen_ai.prompt.version': '1',
    'stet.stream': false,
    'stet.cost_usd': expect.any(Number),
  })
  for (const batch of named(spans, 'database batch')) {
    expect(batch).toMatchObject({ kind: 3, attributes: { 'db.system.name': 'postgresql', 'stet.batch.rows': 1 } })
  }
  for (const { startNano, endNano } of spans) expect(endNano).toBeGreaterThanOrEqual(startNano)
  expect(bench.fake.requests.at(-1)?.headers['traceparent']).toBe(`00-${traceId}-${chat.spanId}-01`)
  expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-key': 'a b' } })
  expect(collector.resource).toMatchObject({ 'service.name': 'prompts', 'deployment.environment.name': 'test' })
})

it('contains no content unless it is allowed', async () => {
  const secrets = [secretPrompt, secretParameter, secretAnswer, secretArgument, 'about ']
  const call = { toolCalls: [{ id: 'x', name: 'latitude_search', arguments: { query: secretArgument } }] }
  const use = async (bench: RunBench) => {
    bench.fake.enqueue({ text: secretAnswer }, call, { text: secretAnswer })
    await bench.stream('hello', { parameters })
    await bench.stream('lead', {}, traced)
    bench.fake.enqueue({ status: 400, body: { error: { message: `Not ${secretPrompt}` } } })
    await bench.run('hello', { parameters })
  }
  const closed = await open(tools)
  await use(closed.bench)
  await closed.close()
  const text = closed.collector.texts.join()
  expect(text).toContain('execute_tool latitude_search')
  for (const secret of secrets) expect(text).not.toContain(secret)

  const { collector, bench, close } = await open({ ...tools, STET_TRACE_CONTENT: 'on' })
  await use(bench)
  await close()
  for (const secret of secrets) expect(collector.texts.join()).toContain(secret)
  const chat = collector.spans.find(({ attributes }) => 'gen_ai.output.messages' in attributes)
  const input = [{ role: 'user', parts: [{ type: 'text', content: `${secretPrompt} to ${secretParameter}.` }] }]
  const output = [{ role: 'assistant', parts: [{ type: 'text', content: secretAnswer }] }]
  expect(JSON.parse(String(chat?.attributes['gen_ai.input.messages']))).toEqual(input)
  expect(JSON.parse(String(chat?.attributes['gen_ai.output.messages']))).toEqual(output)
  const tool = only(collector.spans, 'execute_tool latitude_search')
  expect(tool.attributes['gen_ai.tool.call.arguments']).toBe(JSON.stringify({ query: secretArgument }))
})

it('traces tool calls, agents and failed model calls', async () => {
  const id = traceIdOf(1)
  const before = bench.fake.requests.length
  bench.fake.enqueue(
    { toolCalls: [{ id: 'x', name: 'helper', arguments: { topic: 'bees' } }] },
    { text: 'Helped.' },
    { toolCalls: [{ id: 'y', name: 'latitude_search', arguments: { query: 'bees' } }] },
    { status: 400, body: { error: { message: 'No' } } },
  )
  const recording = await bench.stream('lead', {}, tracedBy(id))
  expect(recording.last['type']).toBe('chain-error')
  const ofCaller = () => collector.spans.filter((span) => span.traceId === id)
  const tree = () => treeOf(ofCaller()).filter((line) => !line.includes('database batch'))
  await expect
    .poll(tree)
    .toEqual([
      run,
      '  render template',
      '  run',
      ...['    chat gpt-4o', '    chat gpt-4o', '    chat gpt-4o'],
      ...['    execute_tool helper', '      chat gpt-4o', '      render template', '    execute_tool latitude_search'],
    ])
  const spans = ofCaller()
  const chats = named(spans, 'chat gpt-4o')
  const sent = bench.fake.requests.slice(before).map(({ headers }) => String(headers['traceparent']))
  expect(sent.sort()).toEqual(chats.map(({ spanId }) => `00-${id}-${spanId}-01`).sort())
  const failed = chats.filter(({ status }) => status === 2)
  expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['rejected'])
  const helped = chats.filter(({ attributes }) => 'gen_ai.response.time_to_first_chunk' in attributes)
  expect(helped.map(({ attributes }) => attributes['stet.prompt.path'])).toEqual(['helper'])
  expect(only(spans, 'execute_tool helper').attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'helper',
    'stet.tool.source': 'agentAsTool',
  })
  expect(only(spans, 'run')).toMatchObject({ status: 2, attributes: { 'error.type': 'ai_run_error' } })
})

it('continues the trace in a background run and in a chat', async () => {
  const id = traceIdOf(2)
  const answer = await bench.run('computed', { background: true }, tracedBy(id))
  const uuid = String(answer.body['uuid'])
  await bench.attach(uuid)
  const spans = await callersTrace(8, id)
  expect(treeOf(spans)).toEqual([
    run,
    '  database batch',
    ...['  queued run', '    database batch', '    run'],
    ...['      chat gpt-4o', '      database batch', '      render template'],
  ])
  expect(only(spans, 'run').attributes['stet.run.mode']).toBe('background')
  const chat = { messages: [{ role: 'user', content: 'More' }] }
  const other = traceIdOf(3)
  expect((await bench.chat(uuid, chat, tracedBy(other))).status).toBe(200)
  await expect
    .poll(() => treeOf(collector.spans.filter((span) => span.traceId === other)))
    .toEqual([
      'POST /conversations/:conversationUuid/chat',
      ...['  database batch', '  run', '    chat gpt-4o', '    database batch'],
    ])
})

it('continues a traced conversation whose draft was deleted', async () => {
  const url = bench.live.replace('/live', '')
  const changes = [{ path: 'drafted', status: 'added', content: prompts.computed }]
  const { body } = await bench.api('POST', url, { body: { name: 'traced', changes } })
  const draft = `${url}/${String(body['uuid'])}`
  const ran = await bench.api('POST', `${draft}/documents/run`, { body: { path: 'drafted' } })
  await bench.api('DELETE', draft)
  const chat = { messages: [{ role: 'user', content: 'More' }] }
  expect((await bench.chat(String(ran.body['uuid']), chat, tracedBy(traceIdOf(6)))).status).toBe(200)
})

it('samples as configured, and follows the caller', async () => {
  const sampling = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }
  const { collector, bench, close } = await open(sampling)
  for (let request = 0; request < 60; request += 1) await bench.api('GET', '/me')
  await bench.run('computed', {}, untraced)
  // Passes the id on without recording, so that the provider does not start another trace.
  expect(bench.fake.requests.at(-1)?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  await bench.run('computed', {}, { traceparent: 'nonsense' })
  await bench.run('computed', {}, traced)
  await close()
  // 60 throws of a coin leave this range in about one of a million cases.
  const sampled = named(collector.spans, 'GET /me').length
  expect(sampled).toBeGreaterThan(10)
  expect(sampled).toBeLessThan(50)
  const ofCaller = collector.spans.filter((span) => span.traceId === traceId)
  expect(named(ofCaller, run)).toHaveLength(1)
})

it('makes no span for a request without a valid key, even if its caller samples it', async () => {
  const { collector, bench, close } = await open()
  for (const authorization of [undefined, 'Bearer x', `Bearer stet_${'a'.repeat(36)}`]) {
    const headers = { ...traced, ...(authorization === undefined ? {} : { authorization }) }
    for (const path of ['/me', '/nowhere']) {
      expect((await fetch(`${bench.server.url}/api/v3${path}`, { headers })).status).toBe(401)
    }
  }
  expect((await bench.api('GET', '/me', { headers: traced })).status).toBe(200)
  await close()
  expect(collector.spans.filter(({ attributes }) => attributes['http.response.status_code'] === 401)).toEqual([])
  expect(collector.spans.filter((span) => span.traceId === traceId).map(({ name }) => name)).toEqual(['GET /me'])
})

it('serves runs while the collector is down, and reports the lost spans', async () => {
  const collector = await otlpCollector()
  await collector.close()
  const bench = await runBench(prompts, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  onTestFinished(() => bench.close())
  expect((await bench.run('computed')).status).toBe(200)
  const lost = async () => {
    const metrics = await (await fetch(`${bench.server.url}/metrics`)).text()
    return Number(/^stet_trace_spans_total\{result="failed"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
  }
  await expect.poll(lost).toBeGreaterThan(0)
  expect((await bench.run('computed')).status).toBe(200)
})

it('does not wait for a collector that does not answer', async () => {
  const { collector, bench, close } = await open({}, true)
  expect((await bench.run('computed', {}, traced)).status).toBe(200)
  await callersTrace(5, traceId, collector)
  expect((await bench.run('computed')).status).toBe(200)
  const begunAt = performance.now()
  await close()
  // The deadline is 3 s. An export would wait for 10 s.
  expect(performance.now() - begunAt).toBeLessThan(9_000)
})
