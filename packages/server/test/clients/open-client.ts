/** A server with a fake provider and one live project, for a published client that finds it by environment variables. */
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { type TestServer, testServer } from '../support/test-server.ts'

export interface ClientBench {
  server: TestServer
  provider: FakeProvider
  close(): Promise<void>
}

/** Call it before the client is imported: that is when it reads the variables. */
export async function openForClient(prompts: Record<string, string>): Promise<ClientBench> {
  const provider = await fakeProvider()
  const environment = { OPENAI_API_KEY: 'sk-fake-provider-key', OPENAI_BASE_URL: provider.url }
  const server = await testServer({ environment })
  const address = new URL(server.url)
  process.env['GATEWAY_HOSTNAME'] = address.hostname
  process.env['GATEWAY_PORT'] = address.port
  // Any text counts as "yes".
  process.env['GATEWAY_SSL'] = ''
  const draft = await server.client.versions.create('for the client')
  const changes = Object.entries(prompts).map(([path, content]) => ({ path, content, status: 'added' as const }))
  await server.client.versions.push(draft.uuid, changes)
  await server.client.versions.publish(draft.uuid)
  return {
    server,
    provider,
    async close() {
      await server.close()
      await provider.close()
    },
  }
}
