/** Control: a byte pipe on node:http, with prepared bytes for GET. This is Node's lower bound. */
import { readFileSync } from 'node:fs'
import { Agent, createServer, request as forward } from 'node:http'
import { listen, upstream } from './listen.ts'

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const readyFile = process.env['READY_FILE']
const ready = readyFile === undefined ? Buffer.from(process.env['READY_BODY'] ?? '{}') : readFileSync(readyFile)

listen(
  createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': ready.length }).end(ready)
      return
    }
    const onward = forward(
      {
        agent,
        host: upstream.hostname,
        port: upstream.port,
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      },
      (answer) => {
        // Aborts the provider call if the client disconnects.
        response.once('close', () => {
          if (!response.writableFinished) onward.destroy()
        })
        response.writeHead(answer.statusCode ?? 502, {
          'content-type': answer.headers['content-type'] ?? 'application/json',
        })
        answer.pipe(response)
      },
    )
    request.pipe(onward)
  }),
)
