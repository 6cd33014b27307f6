import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'
import {
  type ServerProcess,
  settingsFor,
  startServer,
  startWaitingServer,
  type WaitingServer,
} from './server-process.ts'
import { type TestDatabase, testDatabase } from './test-database.ts'

export interface ServerProcesses {
  storage(): TestDatabase
  fake(): FakeProvider
  start(overrides?: Record<string, string>): Promise<ServerProcess>
  startWaiting(): Promise<WaitingServer>
}

/** Servers on one database with one fake provider. Each test gets a new database and new servers. */
export function serverProcesses(adminKey: string): ServerProcesses {
  const started: (ServerProcess | WaitingServer)[] = []
  let storage: TestDatabase
  let fake: FakeProvider
  const environment = () => ({
    ...settingsFor(storage),
    STET_ADMIN_KEY: adminKey,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: fake.url,
  })

  beforeAll(async () => {
    fake = await fakeProvider()
  })
  afterAll(() => fake.close())
  beforeEach(async () => {
    storage = await testDatabase()
  })
  afterEach(async () => {
    for (const { child, ended } of started.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
    await storage.close()
  })

  return {
    storage: () => storage,
    fake: () => fake,
    async start(overrides = {}) {
      const server = await startServer({ ...environment(), ...overrides })
      started.push(server)
      return server
    },
    async startWaiting() {
      const server = await startWaitingServer(environment())
      started.push(server)
      return server
    },
  }
}
