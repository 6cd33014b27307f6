/** Control: Express. Answers GET with a document by `res.json`, and forwards POST with undici. */
import { createServer } from 'node:http'
import express from 'express'
import { Pool } from 'undici'
import { listen, upstream } from './listen.ts'

const pool = new Pool(upstream.origin, { connections: 256 })
const document: unknown = JSON.parse(process.env['READY_BODY'] ?? '{}')
const app = express()

app.get(/.*/, (_request, response) => {
  response.json(document)
})
app.post(/.*/, express.json(), async (request, response) => {
  const answer = await pool.request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request.body),
  })
  response.status(answer.statusCode).type(String(answer.headers['content-type']))
  answer.body.pipe(response)
})

listen(createServer(app))
