/** The whole server in this process, listening on a free port, with a new database of the kind under test. */
import type { AddressInfo } from 'node:net'
import { Stet } from '@stet/sdk'
import { tally } from '../../../../scripts/tally.ts'
import type { Database } from '../../src/adapters/database/database.ts'
import { type Composition, compose, type Replaced } from '../../src/compose.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { generateEncryptionKey } from '../../src/data-files.ts'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import type { Deps, Stores } from '../../src/features/deps.ts'
import { HttpServer } from '../../src/http/server.ts'
import { testRedis } from './redis.ts'
import { roundRobinProxy } from './round-robin-proxy.ts'
import { testDatabase } from './test-database.ts'

export interface TestServer {
  /** `http://127.0.0.1:<port>`, without the API prefix. */
  url: string
  adminKey: string
  client: Stet
  /** The server's dependencies, for counting statements and inspecting internal state. */
  deps: Deps
  database: Database<Stores>
  dataDir: string
  close(): Promise<void>
}

export interface TestServerOptions extends Replaced {
  /** Added to the settings that every test server needs. */
  environment?: Record<string, string>
  /** Replaces the folder of the server's own package. */
  packageRoot?: string
}

/** The number of servers behind each test server. More than one share a Redis prefix and are called in turn. */
const serverCount = Number(process.env['STET_TEST_SERVERS'] ?? 1)

export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const storage = await testDatabase()
  const redis = serverCount > 1 ? testRedis() : undefined
  const adminKey = generateApiKey()
  const read = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    STET_DATA_DIR: storage.dataDir,
    STET_ADMIN_KEY: adminKey,
    STET_ENCRYPTION_KEY: generateEncryptionKey(),
    STET_LOG_LEVEL: 'error',
    STET_AUTH_FAILURE_LIMIT: '0',
    STET_DRAIN_DELAY_MS: '0',
    // Tolerates a test machine under load, which must not count as an outage.
    STET_DATABASE_SILENCE_MS: '20000',
    ...(storage.databaseUrl !== undefined && { DATABASE_URL: storage.databaseUrl }),
    ...(redis && {
      REDIS_URL: redis.url,
      STET_REDIS_PREFIX: redis.prefix,
      STET_REDIS_TIMEOUT_MS: String(redis.timeoutMs),
    }),
    ...options.environment,
  })
  const config = { ...read, packageRoot: options.packageRoot ?? read.packageRoot }
  const servers: Listening[] = []
  for (let started = 0; started < serverCount; started += 1) servers.push(await listen(config, options))
  const [first] = servers
  if (!first) throw new Error('STET_TEST_SERVERS must be at least 1')
  const proxy = redis && (await roundRobinProxy(...servers.map((server) => server.url)))
  const { deps, database } = first.composition
  const url = proxy?.url ?? first.url
  return {
    url,
    adminKey,
    client: new Stet(adminKey, { baseUrl: url, projectId: 1, maxRetries: 0 }),
    deps,
    database,
    dataDir: storage.dataDir,
    async close() {
      if (proxy && (proxy.broken.length > 0 || proxy.served.size < serverCount)) {
        throw new Error(`Not all requests reached all servers: ${JSON.stringify([...proxy.served, ...proxy.broken])}`)
      }
      await proxy?.close()
      for (const { composition, server } of servers) await composition.shutDown(server)
      await redis?.close()
      await storage.close()
    },
  }
}

interface Listening {
  composition: Composition
  server: HttpServer
  url: string
}

async function listen(config: Config, replaced: Replaced): Promise<Listening> {
  tally('server')
  const composition = await compose(config, replaced)
  // A slow disk may delay the end of a run, and a stop request waits for that end.
  composition.deps.runs.settings.stopWaitMs = 60_000
  const server = new HttpServer(composition.app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { composition, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
