/**
 * The provider of all candidates: chat completions, plain or streamed. It is not measured. The user's question selects
 * the stream: "burst" without pauses, "silent" with one word and no end, or "flood" with 20 MB. Other streams pause N
 * ms between chunks if the question contains "every N ms", otherwise 10 ms. "after N ms" delays the response.
 */
import { createServer, type ServerResponse } from 'node:http'

const chunks = Number(process.env['CHUNKS'] ?? 100)

const sixteenKilobytes = 'word '.repeat(3_277)
const usage = { prompt_tokens: 20, completion_tokens: chunks, total_tokens: 20 + chunks }
const plain = JSON.stringify({
  id: 'bench',
  object: 'chat.completion',
  created: 1,
  model: 'bench',
  choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(chunks) }, finish_reason: 'stop' }],
  usage,
})
const frame = (delta: object, finish: string | null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`

// The timeout exceeds any candidate's round, because a control fails if it uses a socket that was just closed.
createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
  let body = ''
  request.on('data', (part) => {
    body += String(part)
  })
  request.on('end', () => {
    const latencyMs = Number(/after (\d+) ms/.exec(body)?.[1] ?? 0)
    if (latencyMs === 0) respond()
    else setTimeout(respond, latencyMs)
  })
  function respond(): void {
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(plain)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame({ role: 'assistant', content: '' }, null))
    if (body.includes('silent')) response.write(frame({ content: 'word ' }, null))
    else if (body.includes('flood')) flood(response, 0)
    else pace(response, 0, body.includes('burst') ? 0 : Number(/every (\d+) ms/.exec(body)?.[1] ?? 10))
  }
})
  .listen(0, '127.0.0.1')
  .on('listening', function (this: { address(): unknown }) {
    const address = this.address()
    console.log(`upstream on http://127.0.0.1:${(address as { port: number }).port}`)
  })

function pace(response: ServerResponse, sent: number, pauseMs: number): void {
  if (response.destroyed) return
  if (sent < chunks) {
    response.write(frame({ content: 'word ' }, null))
    if (pauseMs > 0) setTimeout(pace, pauseMs, response, sent + 1, pauseMs)
    else setImmediate(pace, response, sent + 1, pauseMs)
    return
  }
  response.end(`${frame({}, 'stop', { usage })}data: [DONE]\n\n`)
}

function flood(response: ServerResponse, sent: number): void {
  if (response.destroyed) return
  if (sent === 20 * 64) return void response.end(`${frame({}, 'stop', { usage })}data: [DONE]\n\n`)
  response.write(frame({ content: sixteenKilobytes }, null))
  setTimeout(flood, 2, response, sent + 1)
}
