/** A server process with a fake provider and a project with live prompts. Tests can kill and restart it. */
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { type Api, createTestProject, issueKey, type TestProject } from '../http/scenario.ts'
import { onServer } from './database-server.ts'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'
import { type ServerProcess, settingsFor, startServer } from './server-process.ts'
import { type TestDatabase, testDatabase } from './test-database.ts'

export interface ServedProject {
  readonly server: ServerProcess
  storage: TestDatabase
  fake: FakeProvider
  project: TestProject
  /** An API key with the key scope `admin` and a rate limit that no test reaches. */
  key: string
  api: Api
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>
  kill(): Promise<void>
  /** @param overrides further settings of this start and later ones. */
  start(overrides?: Record<string, string>): Promise<void>
  /** Sends SIGTERM. Resolves when the process has ended. */
  stop(): Promise<void>
  close(): Promise<void>
}

export async function servedProject(
  prompts: Record<string, string>,
  environment: Record<string, string> = {},
  execArgv?: readonly string[],
): Promise<ServedProject> {
  const storage = await testDatabase()
  const fake = await fakeProvider()
  const adminKey = generateApiKey()
  const settings: Record<string, string> = {
    ...settingsFor(storage),
    STET_ADMIN_KEY: adminKey,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: fake.url,
    ...environment,
  }
  let server = await startServer(settings, execArgv)
  const admin = apiCaller(server.url, adminKey)
  const key = await issueKey(admin, { scopes: ['admin'], plan: 'custom', limit: 100_000 })
  const api: Api = (...call) => apiCaller(server.url, key)(...call)
  const project = await createTestProject(api, prompts)
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    server.child.kill(signal)
    await server.ended
  }
  return {
    get server() {
      return server
    },
    storage,
    fake,
    project,
    key,
    api,
    post: (path, body, signal) =>
      fetch(`${server.url}/api/v3${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    async kill() {
      await end('SIGKILL')
      // Simulates an outage longer than the lease. Otherwise the run's owner would still count as alive.
      if (storage.databaseUrl) await onServer(storage.databaseUrl, (client) => client.query('DELETE FROM instance'))
    },
    async start(overrides) {
      Object.assign(settings, overrides)
      server = await startServer(settings, execArgv)
    },
    stop: () => end('SIGTERM'),
    async close() {
      await end('SIGKILL')
      await fake.close()
      await storage.close()
    },
  }
}
