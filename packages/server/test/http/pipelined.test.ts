import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { listening } from './listening.ts'

const connections = 2
const requests = 20_000
const request = `GET /${'a'.repeat(100)} HTTP/1.1\r\nHost: a\r\n\r\n`

// A separate thread, because this one could only send while the server waits.
const sender = `
  const { connect } = require('node:net')
  const { port, connections, text } = require('node:worker_threads').workerData
  for (let index = 0; index < connections; index += 1) connect(port, '127.0.0.1').on('error', () => {}).resume().write(text)
`

it('reads more from a connection only after its earlier requests have been answered', async () => {
  let [waiting, most, answered] = [0, 0, 0]
  const { server, port, close } = await listening((_req, res) => {
    waiting -= 1
    res.end('x'.repeat(300))
    answered += 1
    if (answered === connections * requests) server.emit('all')
  })
  server.prependListener('request', () => {
    waiting += 1
    most = Math.max(most, waiting)
  })
  const workerData = { port, connections, text: request.repeat(requests) }
  const worker = new Worker(sender, { eval: true, workerData })
  try {
    await once(server, 'all')
    // A single socket read is up to 64 KB.
    expect(most).toBeLessThanOrEqual(connections * Math.ceil(65_536 / request.length))
  } finally {
    await worker.terminate()
    await close()
  }
})
