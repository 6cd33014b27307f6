import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, vi } from 'vitest'
import { listening } from './listening.ts'

const question = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

it('responds to a request in flight, and never resets a connection', async () => {
  const served = await listening((_req, res) => void res.end('first'))
  const clients = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const socket = connect(served.port, '127.0.0.1').setEncoding('utf8')
      let text = ''
      const ended = new Promise<string>((resolve) => {
        socket.on('data', (piece: string) => {
          text += piece
        })
        socket.once('error', (error) => resolve(`${text}\n${error.message}`))
        socket.once('end', () => resolve(text))
      })
      socket.write(question)
      await once(socket, 'data')
      return { socket, ended, asksAgain: index % 2 === 0 }
    }),
  )
  // All in one tick, so that the server ends its connections between the two requests of a client.
  for (const { socket, asksAgain } of clients) if (asksAgain) socket.write(question)
  const ending = served.server.endConnections()
  for (const { ended } of clients) {
    const text = await ended
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(text).toMatch(
      /HTTP\/1\.1 503 Service Unavailable\r\n[\s\S]*Connection: close\r\n[\s\S]*The server is stopping/,
    )
    expect(text).not.toContain('ECONNRESET')
  }
  await ending
  await served.close()
})

it('begins no pipelined request after their connection is reset', async () => {
  let [begun, closed] = [0, 0]
  const served = await listening((_req, res) => {
    begun += 1
    res.once('close', () => {
      closed += 1
    })
  })
  const received = vi.fn()
  served.server.on('request', received)
  const socket = connect(served.port, '127.0.0.1')
  socket.write(question.repeat(8))
  await expect.poll(() => received.mock.calls.length).toBe(8)
  socket.resetAndDestroy()
  await expect.poll(() => closed).toBe(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toBe(1)
  await served.close()
})
