import { expect, it } from 'vitest'
import { generateEncryptionKey } from '../../src/data-files.ts'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject } from '../http/scenario.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { startServer } from '../support/server-process.ts'
import { testDatabase } from '../support/test-database.ts'
import { prompt, record } from './run-bench.ts'

const runsOfEachKind = 50

it('promise 1: kill -9 during 50 runs of each kind: after the restart every run has one definite end', async () => {
  const target = await testDatabase()
  const fake = await fakeProvider()
  const key = generateApiKey()
  const environment = {
    PORT: '0',
    STET_DATA_DIR: target.dataDir,
    STET_ADMIN_KEY: key,
    STET_ENCRYPTION_KEY: generateEncryptionKey(),
    STET_LOG_LEVEL: 'off',
    STET_DRAIN_DELAY_MS: '0',
    STET_DATABASE_SILENCE_MS: '20000',
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: fake.url,
    ...(target.databaseUrl !== undefined && { DATABASE_URL: target.databaseUrl }),
  }
  const first = await startServer(environment)
  const { live } = await createTestProject(apiCaller(first.url, key), { hello: prompt('<user>Hi</user>') })
  // Two seconds each: whoever is acknowledged is in the middle of its run when the server dies.
  fake.setDefault({ deltas: Array.from({ length: 20 }, (_, place) => `word ${place} `), delayMs: 100 })
  const acknowledged = new Set<string>()
  const post = (url: string, path: string, body: object) =>
    fetch(`${url}/api/v3${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const run = async (body: object) => {
    const response = await post(first.url, `${live}/documents/run`, { path: 'hello', ...body })
    const uuid = response.headers.get('x-conversation-uuid')
    if (uuid) acknowledged.add(uuid)
    await response.text()
  }
  const kinds = [{}, { stream: true }, { background: true }]
  const started = kinds.flatMap((body) =>
    Array.from({ length: runsOfEachKind }, () => run(body).catch(() => undefined)),
  )
  await fake.waitForRequest(runsOfEachKind + 25)
  await expect.poll(() => acknowledged.size, { timeout: 20_000 }).toBeGreaterThan(runsOfEachKind)
  first.child.kill('SIGKILL')
  await first.ended
  await Promise.all(started)
  fake.setDefault({ text: 'After the restart.' })

  const second = await startServer(environment)
  const ends = await Promise.all(
    [...acknowledged].map(async (uuid) => {
      const recording = await record(await post(second.url, `/conversations/${uuid}/attach`, { stream: true }))
      return String(recording.last['type'])
    }),
  )
  expect(new Set(ends)).toEqual(new Set(['chain-completed', 'chain-error']))
  second.child.kill('SIGTERM')
  await second.ended

  const database = await openTestDatabase(target)
  const { rows } = await database.session.query(
    `SELECT r.status, r.error_code, r.ended_at IS NULL AS open, r.event_log IS NULL AS unlogged, c.uuid::text AS uuid,
       c.status = r.status AS same FROM run r JOIN conversation c ON c.uuid = r.conversation_uuid`,
  )
  await database.close()
  for (const row of rows) {
    expect(row).toMatchObject({ open: false, unlogged: false, same: true })
    expect(['completed', 'error']).toContain(row['status'])
  }
  expect(rows.filter((row) => row['error_code'] === 'worker_lost').length).toBeGreaterThan(runsOfEachKind / 2)
  const stored = new Set(rows.map((row) => row['uuid']))
  expect([...acknowledged].filter((uuid) => !stored.has(uuid))).toEqual([])
  await fake.close()
  await target.close()
}, 120_000)
