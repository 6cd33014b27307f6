import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Provider {
  /** Settings that make a server use it. */
  env: Record<string, string>
  stop(): void
}

/** A provider that says one word and then nothing more: a run that is still going on whatever happens. */
export async function startSilentProvider(): Promise<Provider> {
  const server = createServer({ keepAliveTimeout: 0 }, (_, response) => begin(response)).listen(0, '127.0.0.1')
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

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'Begun' }, finish_reason: null }]
  response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`)
}
