/** A server process with a fake provider and published prompts, whose memory and handles can be looked at. */
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { type Api, createTestProject, issueKey } from '../http/scenario.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { probeOptions } from '../support/process-figures.ts'
import { type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { testDatabase } from '../support/test-database.ts'

export interface RunServer {
  server: ServerProcess
  fake: FakeProvider
  api: Api
  key: string
  /** Address of the live version. */
  live: string
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>
  /** Resolves with the uuid of the conversation when the run is queued. */
  startBackground(path: string): Promise<string>
  /** Ends the connections that this process keeps to the server. */
  closeConnections(): Promise<void>
  /** Waits until no more than so many runs are driven. */
  untilActive(most: number): Promise<void>
  close(): Promise<void>
}

export async function runServer(
  prompts: Record<string, string>,
  environment: Record<string, string> = {},
): Promise<RunServer> {
  const storage = await testDatabase()
  const fake = await fakeProvider()
  const adminKey = generateApiKey()
  const server = await startServer(
    {
      ...settingsFor(storage),
      STET_ADMIN_KEY: adminKey,
      STET_MAX_STREAMS_PER_KEY: '100000',
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: fake.url,
      ...environment,
    },
    probeOptions,
  )
  setGlobalDispatcher(new Agent())
  const admin = apiCaller(server.url, adminKey)
  const key = await issueKey(admin, { scopes: ['admin'], plan: 'custom', limit: 100_000 })
  const api = apiCaller(server.url, key)
  const { live } = await createTestProject(api, prompts)
  const post = (path: string, body: unknown, signal?: AbortSignal) =>
    fetch(`${server.url}/api/v3${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  return {
    server,
    fake,
    api,
    key,
    live,
    post,
    async startBackground(path) {
      const answer = await post(`${live}/documents/run`, { path, background: true })
      return answer.headers.get('x-conversation-uuid') ?? ''
    },
    async closeConnections() {
      const used = getGlobalDispatcher()
      setGlobalDispatcher(new Agent())
      await used.destroy()
    },
    async untilActive(most) {
      for (;;) {
        const figures = await (await fetch(`${server.url}/metrics`)).text()
        if (Number(/^stet_runs_active (\d+)/m.exec(figures)?.[1]) <= most) return
        await delay(50)
      }
    },
    async close() {
      server.child.kill('SIGTERM')
      await server.ended
      await fake.close()
      await storage.close()
    },
  }
}
