import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database, DatabaseClient } from '../../src/adapters/database/database.ts'
import { postgresLeaseStore, postgresRunStore } from '../../src/adapters/database/stores/run-store.ts'
import { postgresToolCallStore } from '../../src/adapters/database/stores/tool-call-store.ts'
import { usageOf } from '../../src/features/providers/usage.ts'
import type { RunEnd } from '../../src/features/runs/ports.ts'
import { AppError } from '../../src/shared/app-error.ts'
import { noFigures, orphanedRun } from '../runs/orphaned-run.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { isSkippedWithoutServer, testServerUrl } from '../support/database-server.ts'
import { heardMs } from '../support/heard-time.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

/** Returns the time until a 503. Any other response fails the test. */
async function refusal(work: Promise<unknown>): Promise<number> {
  let error: unknown
  const ms = await heardMs(
    work.then(
      () => (error = new Error('it was not refused')),
      (failure: unknown) => (error = failure),
    ),
  )
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ code: 'ServiceUnavailableError', details: {} })
  expect((error as AppError).message).not.toMatch(/connect|ECONN|127\.0/)
  return ms
}

const often = { interval: 20 }

/** The time limit of the promise. Other tests use a longer one, because a busy machine is not an outage. */
const silenceMs = 1_000
const needsServer = isSkippedWithoutServer('PostgreSQL outages and the single replica')

describe.skipIf(needsServer)('PostgreSQL outages', () => {
  let target: TestDatabase
  let proxy: DatabaseProxy
  let database: Database<DatabaseClient>

  beforeEach(async () => {
    target = await testDatabase()
    proxy = await startDatabaseProxy(target.databaseUrl ?? '')
    database = await openTestDatabase({ ...target, databaseUrl: proxy.url }, { silenceMs })
    await database.client.workspace.create({ data: { name: 'before' } })
  })
  afterEach(async () => {
    await proxy.comeBack()
    await database.close()
    await proxy.goAway()
    await target.close()
  })

  /** Runs one statement of each kind: Prisma, Prisma transaction, plain SQL and write batch. */
  const attempts = () => [
    refusal(database.client.workspace.findMany()),
    refusal(database.client.workspace.create({ data: { name: 'lost' } })),
    refusal(database.transaction((client) => client.workspace.create({ data: { name: 'lost' } }))),
    refusal(database.session.query('SELECT 1')),
    refusal(
      database.writeBatch.write(
        {
          name: 'any',
          order: 1,
          key: () => '',
          statement: () => ({ sql: 'SELECT 1', params: [] }),
        },
        { workspaceId: 1 },
      ),
    ),
  ]

  it('promise 12: rejects all work within a second while PostgreSQL is down, and recovers without a restart', async () => {
    await proxy.goAway()
    for (const ms of await Promise.all(attempts())) expect(ms).toBeLessThan(1_000)
    expect(await database.ready()).toMatchObject({ database: false })
    await proxy.comeBack()
    await expect.poll(async () => (await database.ready())['database'], often).toBe(true)
    expect(await database.client.workspace.count()).toBe(1)
  })

  it('promise 12: rejects all work within about a second while PostgreSQL is frozen, and recovers without a restart', async () => {
    proxy.freeze()
    for (const ms of await Promise.all(attempts())) expect(ms).toBeLessThan(1_500)
    await proxy.goAway()
    await proxy.comeBack()
    await expect.poll(async () => (await database.ready())['database'], often).toBe(true)
    expect(await database.client.workspace.count()).toBe(1)
  })

  it('lets a slow statement finish', async () => {
    // The server has half of this time to answer another request, even on a busy machine.
    const patient = await openTestDatabase({ ...target, databaseUrl: proxy.url }, { silenceMs: 4_000 })
    const { rows } = await patient.session.query(`SELECT 'done' AS state FROM pg_sleep(5)`)
    expect(rows).toEqual([{ state: 'done' }])
    await patient.close()
  })

  it('fails only the open transaction if a connection breaks between two statements', async () => {
    const cut = database.session.transaction(async (queries) => {
      const { rows } = await queries.query('SELECT pg_backend_pid() AS pid')
      const pid = Number(rows[0]?.['pid'])
      await database.session.query('SELECT pg_terminate_backend($1)', [pid])
      const left = async () =>
        (await database.session.query('SELECT pid FROM pg_stat_activity WHERE pid = $1', [pid])).rows
      await expect.poll(left, often).toEqual([])
      await queries.query('SELECT 1')
    })
    await refusal(cut)
    expect(await database.client.workspace.count()).toBe(1)
  })

  it('does not treat the database as frozen while the process itself is busy', async () => {
    const slow = Promise.all([1, 2, 3].map(() => database.session.query(`SELECT 'done' AS state FROM pg_sleep(2)`)))
    const until = performance.now() + 3_000
    while (performance.now() < until) {
      // Longer than the server's time to answer plus one tick to receive the response.
      const busyUntil = performance.now() + 700
      while (performance.now() < busyUntil);
      await delay(1)
    }
    expect((await slow).map(({ rows }) => rows)).toEqual(Array(3).fill([{ state: 'done' }]))
  })
})

describe.skipIf(testServerUrl !== undefined)('full disk below the embedded database', () => {
  it('refuses writes below the disk floor and still serves reads', async () => {
    const target = await testDatabase()
    const database = await openTestDatabase(target, { diskFloorBytes: Number.MAX_SAFE_INTEGER })
    await refusal(database.client.workspace.create({ data: { name: 'too much' } }))
    await refusal(database.transaction((client) => client.workspace.create({ data: { name: 'too much' } })))
    expect(await database.client.workspace.count()).toBe(0)
    expect(await database.ready()).toEqual({ database: true, disk: false, intact: true })
    await database.close()
    await target.close()
  })

  it('ends runs, answers tool calls and renews the lease below the disk floor, even in a batch with refused writes', async () => {
    const target = await testDatabase()
    const { bavail, bsize } = await statfs(target.dataDir)
    const open = async (diskFloorBytes: number) => {
      const database = await openTestDatabase(target, { diskFloorBytes })
      return { database, runs: postgresRunStore(database) }
    }
    const { conversation, run } = orphanedRun('owner')
    const before = await open(0)
    await before.database.client.workspace.create({ data: { id: 1, name: 'before' } })
    await before.runs.create(conversation, run)
    await before.database.close()

    const { database, runs } = await open(1.5 * bavail * bsize)
    const calls = postgresToolCallStore(database)
    const { workspaceId, projectId } = conversation
    const call = { id: 'call', workspaceId, projectId, runUuid: run.uuid, isWaiting: true, createdAt: new Date() }
    await calls.issue([call])
    const answer = { id: 'call', workspaceId, result: 1, isError: false, answeredAt: new Date() }
    expect(await calls.answer(answer)).toBe(true)
    expect(await runs.requestStop(workspaceId, run.uuid)).toBe(true)
    expect(await postgresLeaseStore(database.session).renew('owner', 10_000)).toEqual([run.uuid])
    const end: RunEnd = {
      ...{
        workspaceId,
        runUuid: run.uuid,
        conversationUuid: conversation.uuid,
        epoch: 1,
        epochAfter: 1,
        from: 'running',
      },
      ...{ status: 'completed', messages: [], lastEventId: 1, endedAt: new Date(), eventLog: new Uint8Array() },
      result: { toolRequests: [], tokenUsage: usageOf({}), cost: 0, costUnknown: false },
      figures: noFigures,
    }
    const other = orphanedRun('owner')
    const [created, ended] = await Promise.allSettled([runs.create(other.conversation, other.run), runs.end(end)])
    expect(created).toMatchObject({ status: 'rejected', reason: { reason: 'disk-full' } })
    expect(ended).toEqual({ status: 'fulfilled', value: true })
    await database.close()
    await target.close()
  })
})
