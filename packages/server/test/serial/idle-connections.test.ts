import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { count, timeFor } from '../support/counts.ts'
import { runServer } from './run-server.ts'

// The server is a separate process, because both ends of a connection need a descriptor.
const idle = count(500, 10_000)

it(
  'serves other callers despite idle connections',
  async () => {
    const bench = await runServer({ hello: prompt('<user>Hi</user>') })
    onTestFinished(() => bench.close())
    const { port, hostname } = new URL(bench.server.url)
    const sockets: Socket[] = []
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (let first = 0; first < idle; first += 100) {
      const opened = Array.from({ length: Math.min(100, idle - first) }, () => connect(Number(port), hostname))
      sockets.push(...opened)
      await Promise.all(opened.map((socket) => once(socket, 'connect')))
      for (const socket of opened) socket.on('error', () => {})
    }
    // Half of the connections have started a request that they never finish.
    for (const [place, socket] of sockets.entries())
      if (place % 2 === 0) socket.write('GET /health HTTP/1.1\r\nHost: a\r\n')
    expect((await bench.post(`${bench.live}/documents/run`, { path: 'hello' })).status).toBe(200)
    expect(sockets.filter(({ closed }) => closed)).toEqual([])
  },
  timeFor(idle, 20),
)
