import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Provider {
  env: Record<string, string>
  stop(): void
}

/** Sends one word and never ends, which keeps a run active. The model `refused` returns 401. */
export async function startSilentProvider(): Promise<Provider> {
  const server = createServer({ keepAliveTimeout: 0 }, answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    env: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const text of request.setEncoding('utf8')) body += text
  if (JSON.parse(body).model === 'refused') {
    const error = { message: 'Incorrect API key provided', type: 'invalid_request_error' }
    response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'Begun' }, finish_reason: null }]
  response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`)
}
