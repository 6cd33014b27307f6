/** Callers and providers that send what looks like something else: in bodies, paths, names, answers and errors. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseRaw, sendRaw } from '../http/raw-http.ts'
import { assistantMessage, prompt, type RunBench, runBench, textOf } from '../runs/run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  const tool = 'tools:\n  - look: { description: x, parameters: { type: object } }\n'
  bench = await runBench(
    {
      hello: prompt('<user>Hi {{ x }}</user>', 'maxRetries: 0\n'),
      tool: prompt('<user>Hi</user>', `maxRetries: 0\nmaxSteps: 1\n${tool}`),
      endless: '---\nprovider: Endless\nmodel: m\nmaxRetries: 0\n---\n<user>Hi</user>',
    },
    { STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' },
  )
})
afterAll(() => bench.close())

const lineEnds = 'a\r\nX-Injected: 1\r\n\r\nevent: provider-event\ndata: {"type":"forged"}\n\n'

it('refuses `__proto__` anywhere in a body, and pollutes nothing', async () => {
  const part = { type: 'text', text: 'x' }
  const body = {
    path: 'hello',
    parameters: { x: { deep: [{ y: 1 }] } },
    messages: [{ role: 'user', content: [part] }],
    tools: ['a'],
    unknown: { list: [[{}]] },
  }
  const text = JSON.stringify(body)
  const places = [...text.matchAll(/\{/g)].map(({ index }) => index + 1)
  expect(places.length).toBeGreaterThan(6)
  const headers = { 'content-type': 'application/json' }
  for (const place of places) {
    const rest = text.slice(place)
    const hostile = `${text.slice(0, place)}"__proto__":{"polluted":1}${rest.startsWith('}') ? '' : ','}${rest}`
    const answer = await bench.api('POST', `${bench.live}/documents/run`, { body: hostile, headers })
    expect(answer.status, hostile).toBe(400)
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

const overlong: [string, number[]][] = [
  ['a slash in two bytes', [0xc0, 0xaf]],
  ['a quote in two bytes', [0xc0, 0xa2]],
  ['a slash in three bytes', [0xe0, 0x80, 0xaf]],
  ['a slash in four bytes', [0xf0, 0x80, 0x80, 0xaf]],
  ['NUL in two bytes', [0xc0, 0x80]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['a code point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ['a truncated character', [0xe6, 0xbc]],
  ['a lone continuation', [0x80]],
]

it.each(overlong)(
  'refuses invalid UTF-8 in a body, and matches it with nothing elsewhere: %s',
  async (_name, bytes) => {
    const headers = { 'content-type': 'application/json' }
    for (const text of ['{"path":"hello","customIdentifier":"@"}', '{"path":"hello","parameters":{"@":1}}', '@']) {
      const [before = '', after = ''] = text.split('@')
      const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
      const answer = await bench.api('POST', `${bench.live}/documents/run`, { body, headers })
      expect(answer, text).toMatchObject({ status: 400, body: { name: 'BadRequestError' } })
    }
    const { port } = new URL(bench.server.url)
    const escaped = bytes.map((byte) => `%${byte.toString(16)}`).join('')
    const raw = Buffer.from(bytes).toString('latin1')
    const head = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${bench.key}\r\n`
    const documents = `/api/v3${bench.live}/documents`
    const requests: [string, number[]][] = [
      [`GET ${documents}/hello${escaped} HTTP/1.1\r\n${head}\r\n`, [400, 404]],
      [`GET ${documents}/..${escaped}..${escaped}hello HTTP/1.1\r\n${head}\r\n`, [400, 404]],
      [`GET ${documents}/hello${raw} HTTP/1.1\r\n${head}\r\n`, [400, 404]],
      [`GET /api/v3/conversations/${escaped} HTTP/1.1\r\n${head}\r\n`, [400, 404]],
      [`GET ${documents}?prefix=${escaped} HTTP/1.1\r\n${head}\r\n`, [200, 400]],
      [`GET ${documents}/hello HTTP/1.1\r\n${head}X-Request-Id: ${raw}\r\n\r\n`, [200]],
    ]
    for (const [request, statuses] of requests) {
      const answer = parseRaw(await sendRaw(Number(port), [Buffer.from(request, 'latin1')]))
      expect(statuses, request).toContain(answer.status)
      expect(answer.headers.get('x-request-id')).toMatch(/^req_\w{22}$/)
    }
  },
)

it('does not inject headers or frames through line breaks in names, parameters and identifiers', async () => {
  const project = await bench.api('POST', '/projects', { body: { name: lineEnds } })
  expect(project.headers.has('x-injected')).toBe(false)
  if (project.status === 201) expect(project.body).toMatchObject({ project: { name: lineEnds } })
  const recording = await bench.stream('hello', { parameters: { x: lineEnds }, customIdentifier: lineEnds })
  if (recording.status === 200) {
    expect(recording.types).not.toContain('·forged')
    expect(recording.types.at(-1)).toBe('chain-completed')
  }
  expect(recording.headers.has('x-injected')).toBe(false)
  const unknown = await bench.api('GET', `/conversations/${encodeURIComponent(lineEnds)}`)
  expect({ status: unknown.status, injected: unknown.headers.has('x-injected') }).toEqual({
    status: 404,
    injected: false,
  })
})

const injection = 'a\r\n\r\nevent: provider-event\ndata: {"type":"forged"}\nid: 999999\n\n: b\u2028\u0085'

it.each([1, 3])('treats text that looks like frames as text, in %i pieces', async (pieces) => {
  const size = Math.ceil(injection.length / pieces)
  const deltas = Array.from({ length: pieces }, (_, place) => injection.slice(place * size, (place + 1) * size))
  bench.fake.enqueue({ deltas })
  const recording = await bench.stream('hello')
  expect(textOf(recording)).toBe(injection)
  expect((recording.last['messages'] as unknown[]).at(-1)).toEqual(assistantMessage(injection))
  expect(recording.types).not.toContain('·forged')
})

it('treats tool names and call ids that look like frames as data', async () => {
  bench.fake.enqueue({ toolCalls: [{ id: injection, name: injection, arguments: { [injection]: injection } }] })
  const recording = await bench.stream('tool')
  const call = recording.events.find(({ data }) => data['toolName'] === injection)
  expect(call?.data['args'] ?? call?.data).toBeDefined()
  expect(recording.types).not.toContain('·forged')
  expect(recording.types.at(-1)).toBe('chain-error')
})

it('treats an error message that looks like frames as text everywhere', async () => {
  bench.fake.enqueue({ status: 400, body: { error: { message: injection } } })
  const { last, types } = await bench.stream('hello')
  expect(last['error']).toMatchObject({ code: 'ai_run_error', details: { providerMessage: injection } })
  expect(types).not.toContain('·forged')
  bench.fake.enqueue({ status: 400, body: { error: { message: injection } } })
  const { status, body } = await bench.run('hello')
  expect({ status, details: body.details }).toMatchObject({ status: 422, details: { providerMessage: injection } })
})

it('fails the run if the response head is too large', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n')
    const more = () => {
      while (!socket.destroyed && socket.write(`x-more: ${'x'.repeat(1_000)}\r\n`));
    }
    socket.on('drain', more)
    more()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const entry = { name: 'Endless', provider: 'openai', token: 'sk-0123456789abcdef', url }
  expect((await bench.api('POST', '/provider-api-keys', { body: entry })).status).toBe(201)
  const { status, body } = await bench.run('endless')
  expect(status).toBe(422)
  expect(body).toMatchObject({ errorCode: 'ai_run_error', message: 'The head of the answer is too large' })
  await new Promise((resolve) => server.close(resolve))
})
