/** Several server processes on one database and one Redis prefix, with one fake provider and a project with prompts. */
import { rm } from 'node:fs/promises'
import type pg from 'pg'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { type Api, createTestProject, issueKey, type TestProject } from '../http/scenario.ts'
import { type RunCalls, runCalls } from '../runs/run-calls.ts'
import type { ProgramEnd } from './child-program.ts'
import { onServer } from './database-server.ts'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'
import { patientMs, testRedis } from './redis.ts'
import { type ServerProcess, settingsFor, startServer } from './server-process.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { type TestDatabase, testDatabase } from './test-database.ts'

export interface Replica extends RunCalls {
  process: ServerProcess
  url: string
  /** Freezes the process: its connections stay open without responses. */
  pause(): void
  resume(): void
  /** Resolves when the process has ended. */
  kill(): Promise<ProgramEnd>
  /** Sends SIGTERM. Resolves when the process has ended. */
  terminate(): Promise<ProgramEnd>
}

export interface Replicas {
  fake: FakeProvider
  project: TestProject
  adminKey: string
  /** An API key with the key scope `admin` and a rate limit that no test reaches. */
  key: string
  /** The servers of the start, in order. @throws RangeError if there is none at this place. */
  server(place: number): Replica
  storage: TestDatabase
  /** @param overrides further settings of this server. */
  start(overrides?: Record<string, string>): Promise<Replica>
  query<T extends pg.QueryResultRow>(sql: string, params?: unknown[]): Promise<T[]>
  close(): Promise<void>
}

export interface ReplicasOptions {
  /** Default: 3. */
  count?: number
  environment?: Record<string, string>
  /** Default: the shared Redis server. */
  redisUrl?: string
  /** Returns the address through which the servers reach the database. */
  databaseThrough?: (databaseUrl: string) => Promise<string>
}

export async function openReplicas(prompts: Record<string, string>, options: ReplicasOptions = {}): Promise<Replicas> {
  const storage = await testDatabase()
  const { databaseUrl } = storage
  if (databaseUrl === undefined) throw new Error('STET_TEST_DATABASE_URL is not set')
  const fake = await fakeProvider()
  const redis = testRedis(options.redisUrl)
  const adminKey = generateApiKey()
  const shared = {
    ...settingsFor(storage),
    ...(options.databaseThrough && { DATABASE_URL: await options.databaseThrough(databaseUrl) }),
    REDIS_URL: redis.url,
    STET_REDIS_PREFIX: redis.prefix,
    STET_REDIS_TIMEOUT_MS: String(patientMs),
    STET_ADMIN_KEY: adminKey,
    STET_AUTH_FAILURE_LIMIT: '0',
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: fake.url,
    ...options.environment,
  }
  const processes: ServerProcess[] = []
  const folders: string[] = []
  const startProcess = async (overrides: Record<string, string> = {}) => {
    const dataDir = await temporaryFolder()
    folders.push(dataDir)
    const process = await startServer({ ...shared, STET_DATA_DIR: dataDir, ...overrides })
    processes.push(process)
    return process
  }
  const close = async () => {
    for (const { child, ended } of processes) {
      child.kill('SIGKILL')
      await ended
    }
    await fake.close()
    await redis.close()
    await storage.close()
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  }
  try {
    const started = await Promise.all(Array.from({ length: options.count ?? 3 }, () => startProcess()))
    const url = started[0]?.url ?? ''
    const admin: Api = apiCaller(url, adminKey)
    const key = await issueKey(admin, { scopes: ['admin'], plan: 'custom', limit: 100_000 })
    const project = await createTestProject(apiCaller(url, key), prompts)
    const replica = (process: ServerProcess) => replicaOf(process, key, project.live)
    const servers = started.map(replica)
    return {
      fake,
      project,
      adminKey,
      key,
      server(place) {
        const server = servers[place]
        if (!server) throw new RangeError(`There is no server ${place}`)
        return server
      },
      storage,
      start: async (overrides) => replica(await startProcess(overrides)),
      query: <T extends pg.QueryResultRow>(sql: string, params: unknown[] = []) =>
        onServer(databaseUrl, async (client) => (await client.query<T>(sql, params)).rows),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function replicaOf(process: ServerProcess, key: string, live: string): Replica {
  const { child, url, ended } = process
  const end = (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  return {
    process,
    url,
    ...runCalls({ url, key, live }),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
  }
}
