import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseRaw, sendRaw } from '../http/raw-http.ts'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi {{ x }}</user>', 'maxRetries: 0\n') })
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

describe.each(overlong)('invalid UTF-8: %s', (_name, bytes) => {
  it('is refused in a body, in texts and in keys', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const text of ['{"path":"hello","customIdentifier":"@"}', '{"path":"hello","parameters":{"@":1}}', '@']) {
      const [before = '', after = ''] = text.split('@')
      const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
      const answer = await bench.api('POST', `${bench.live}/documents/run`, { body, headers })
      expect(answer, text).toMatchObject({ status: 400, body: { name: 'BadRequestError' } })
    }
  })

  it('matches nothing in a path, a query or a header', async () => {
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
  })
})

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
