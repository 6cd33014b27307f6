/** Control: typical application code with Express and the unmodified `openai` client, one write per event. */
import { createServer } from 'node:http'
import express from 'express'
import OpenAI from 'openai'
import { listen, upstream } from './listen.ts'

const client = new OpenAI({ apiKey: 'bench', baseURL: `${upstream.origin}/v1` })
const app = express()

app.post(/.*/, express.json(), async (request, response) => {
  const messages: { role: 'user'; content: string }[] = [
    { role: 'user', content: `Say something about ${request.body.parameters.topic}.` },
  ]
  if (!request.body.stream) {
    response.json(await client.chat.completions.create({ model: 'bench', messages }))
    return
  }
  response.setHeader('content-type', 'text/event-stream')
  const stream = await client.chat.completions.create({ model: 'bench', messages, stream: true })
  for await (const chunk of stream) {
    response.write(`data: ${JSON.stringify({ text: chunk.choices[0]?.delta.content ?? '' })}\n\n`)
  }
  response.end()
})

listen(createServer(app))
