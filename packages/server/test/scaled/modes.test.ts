/** A server without Redis serves alone, so it must never serve beside servers that share a database through Redis. */
import { rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { onServer } from '../support/database-server.ts'
import { type TestRedis, testRedis } from '../support/redis.ts'
import { type ServerProcess, settingsFor, startServer, startWaitingServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

const adminKey = generateApiKey()
let storage: TestDatabase
let redis: TestRedis
let alone: Record<string, string>
let shared: Record<string, string>
let folder: string
beforeAll(async () => {
  storage = await testDatabase()
  redis = testRedis()
  folder = await temporaryFolder()
  alone = { ...settingsFor(storage), STET_ADMIN_KEY: adminKey }
  shared = { ...alone, STET_DATA_DIR: folder, REDIS_URL: redis.url, STET_REDIS_PREFIX: redis.prefix }
})
const started: Pick<ServerProcess, 'child' | 'ended'>[] = []
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  for (const { ended } of started.splice(0)) await ended
})
afterAll(async () => {
  await redis.close()
  await storage.close()
  await rm(folder, { recursive: true, force: true })
})

function keep<S extends Pick<ServerProcess, 'child' | 'ended'>>(server: S): S {
  started.push(server)
  return server
}

const statusOf = async (url: string) => (await apiCaller(url, adminKey)('GET', '/me')).status

async function expectWaiting(url: string): Promise<void> {
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect((await fetch(`${url}/ready`)).status).toBe(503)
  expect(await statusOf(url)).toBe(503)
}

it('a server without Redis waits until all servers with Redis have stopped', async () => {
  const servers = await Promise.all([startServer(shared), startServer(shared)])
  servers.forEach(keep)
  const single = keep(await startWaitingServer(alone))
  await expectWaiting(single.url)
  for (const { url } of servers) expect(await statusOf(url)).toBe(200)
  const [first, second] = servers
  first?.child.kill('SIGTERM')
  expect(await first?.ended).toMatchObject({ code: 0 })
  await expectWaiting(single.url)
  second?.child.kill('SIGTERM')
  await single.serving
  expect(await statusOf(single.url)).toBe(200)
  expect(await second?.ended).toMatchObject({ code: 0 })
})

it('servers with Redis wait until a server without it has stopped', async () => {
  const single = keep(await startServer(alone))
  const waiting = await Promise.all([startWaitingServer(shared), startWaitingServer(shared)])
  waiting.forEach(keep)
  for (const { url } of waiting) await expectWaiting(url)
  expect(await statusOf(single.url)).toBe(200)
  single.child.kill('SIGTERM')
  for (const { serving } of waiting) expect(await statusOf(await serving)).toBe(200)
  expect(await single.ended).toMatchObject({ code: 0 })
})

it('a start waits longer than the lock timeout for the start that makes the first workspace, and for none once it exists', async () => {
  const empty = await testDatabase()
  onTestFinished(() => empty.close())
  const start = async () => {
    const dataDir = await temporaryFolder()
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const settings = {
      ...shared,
      ...settingsFor(empty),
      STET_DATA_DIR: dataDir,
      STET_REDIS_PREFIX: `${redis.prefix}-new`,
    }
    return keep(await startServer(settings))
  }
  const { databaseUrl = '' } = empty
  const countOf = (condition: string) =>
    onServer(databaseUrl, async (client) => {
      const { rowCount } = await client.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`,
      )
      return rowCount
    })
  await onServer(databaseUrl, async (client) => {
    const takeLock = () => client.query('BEGIN; SELECT pg_advisory_xact_lock(7358801)')
    await takeLock()
    const first = start()
    // Reported below, when it is awaited.
    first.catch(() => undefined)
    await expect.poll(() => countOf(`wait_event_type = 'Lock' AND query_start < now() - interval '6 s'`)).toBe(1)
    await client.query('COMMIT')
    await first
    await takeLock()
    expect(await statusOf((await start()).url)).toBe(200)
    await client.query('COMMIT')
  })
}, 120_000)
