import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import { count, timeFor } from '../support/counts.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi {{ x }}</user>', 'maxRetries: 0\n') })
})
afterAll(() => bench.close())

const lineEnds = 'a\r\nX-Injected: 1\r\n\r\nevent: provider-event\ndata: {"type":"forged"}\n\n'

it('a body with `__proto__` at any place of it is refused, and pollutes nothing', async () => {
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

it('line ends in names, parameters and identifiers inject no header and no frame', async () => {
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

const idle = count(500, 10_000)

it(
  'idle connections keep nobody else from being served',
  async () => {
    const { port, hostname } = new URL(bench.server.url)
    const sockets: Socket[] = []
    for (let first = 0; first < idle; first += 100) {
      const opened = Array.from({ length: Math.min(100, idle - first) }, () => connect(Number(port), hostname))
      await Promise.all(opened.map((socket) => once(socket, 'connect')))
      sockets.push(...opened)
    }
    // Some have begun a request that they never end.
    for (const [place, socket] of sockets.entries()) {
      socket.on('error', () => {})
      if (place % 2 === 0) socket.write('GET /health HTTP/1.1\r\nHost: a\r\n')
    }
    expect((await bench.run('hello', { parameters: { x: 1 } })).status).toBe(200)
    for (const socket of sockets) socket.destroy()
  },
  timeFor(idle, 20),
)
