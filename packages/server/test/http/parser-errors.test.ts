import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Listening, listening } from './listening.ts'
import { parseRaw, sendRaw } from './raw-http.ts'

const open: Listening[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
})

async function server(slowSenderMs = 30_000): Promise<Listening> {
  const each = await listening(
    (req, res) => {
      req.resume().on('end', () => res.end('served'))
    },
    { slowSenderMs },
  )
  open.push(each)
  return each
}

function expectErrorBody(answer: string, status: number): void {
  const { status: got, headers, body } = parseRaw(answer)
  expect(got).toBe(status)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9A-Za-z]{22}$/)
  expect(JSON.parse(body)).toEqual({
    name: 'BadRequestError',
    message: expect.any(String),
    errorCode: 'BadRequestError',
    reason: { 400: 'malformed-http', 408: 'slow-request', 431: 'head-too-large' }[status],
    details: {},
  })
}

describe('requests refused by the HTTP parser', () => {
  it.each([
    ['text that is not HTTP', 'hello\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a bad chunk size', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'],
    ['two Hosts in HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
  ])('returns 400 for %s', async (_name, request) => {
    const { port } = await server()
    expectErrorBody(await sendRaw(port, [request]), 400)
  })

  it('returns 431 for a head over 16 KB', async () => {
    const { port } = await server()
    expectErrorBody(await sendRaw(port, [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`]), 431)
  })

  it('returns 408 for a head or a body that does not arrive in time', async () => {
    const { port } = await server(200)
    const [head, body] = await Promise.all([
      sendRaw(port, ['GET / HTTP/1.1\r\nHost: a\r\n']),
      sendRaw(port, ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc']),
    ])
    expectErrorBody(head, 408)
    expectErrorBody(body, 408)
  })

  it('never writes a second head into a response that has begun', async () => {
    const each = await listening((_req, res) => {
      res.write('begun')
    })
    open.push(each)
    const socket = connect(each.port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      if (answer === '') socket.write('rubbish\r\n\r\n')
      answer += text
    })
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'close')
    expect(answer).toContain('begun')
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it.each([
    ['without Host', 'GET / HTTP/1.1\r\n\r\n', [200, 400]],
    ['that is not HTTP', 'rubbish\r\n\r\n', [200]],
    ['that never ends', 'GET / HTTP/1.1\r\nHost:', [200]],
  ])('responds to a request %s only after the previous request', async (_name, next, statuses) => {
    let refuse = () => {}
    const isRefused = new Promise<void>((resolve) => {
      refuse = resolve
    })
    const late = (limitMs: number) => Object.assign(each.server, { headersTimeout: limitMs, requestTimeout: limitMs })
    // Both requests are in one packet, so the second is refused in the same tick as the first, or times out later.
    const each = await listening(
      (_req, res) => {
        late(200)
        if (statuses.length > 1) setImmediate(refuse)
        void isRefused.then(() => res.end('served'))
      },
      { slowSenderMs: 200 },
    )
    open.push(each)
    // The first request never times out, however long the machine takes to read it.
    late(30_000)
    each.server.once('clientError', () => refuse())
    const answer = await sendRaw(each.port, [`GET / HTTP/1.1\r\nHost: a\r\n\r\n${next}`])
    const heads = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)]
    expect(heads.map(([, status]) => Number(status))).toEqual(statuses)
    expect(answer).toContain('served')
    expect(answer.match(/Connection: close/g)).toHaveLength(1)
  })

  it('serves a request with an unknown Expect header', async () => {
    const { port } = await server()
    const answer = await sendRaw(port, ['GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n'])
    expect(parseRaw(answer).status).toBe(200)
  })

  it('serves other connections meanwhile', async () => {
    const { port, url } = await server()
    await sendRaw(port, ['rubbish\r\n\r\n'])
    expect(await (await fetch(url)).text()).toBe('served')
  })
})
