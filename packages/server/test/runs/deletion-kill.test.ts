import { expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../support/database-open.ts'
import { servedProject } from '../support/served-project.ts'
import { processTestMs } from '../support/server-process.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { prompt } from './run-bench.ts'

async function rowsLeft(storage: TestDatabase): Promise<number> {
  const database = await openTestDatabase(storage)
  try {
    const tables = ['conversation', 'run', 'log_entry', 'erasure', 'document']
    const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`).join(' + ')
    const { rows } = await database.session.query(`SELECT (${counts})::int AS count`)
    return Number(rows[0]?.['count'])
  } finally {
    await database.close()
  }
}

it(
  'finishes a deletion after kill -9 and a restart, without partial results',
  async () => {
    const served = await servedProject({ hello: prompt('<user>Hi</user>') }, { STET_LOG_LEVEL: 'off' })
    onTestFinished(() => served.close())
    const { api, project, fake } = served
    fake.setDefault({ text: 'fine' })
    const recorded = (body: object) => api('POST', `${project.live}/documents/logs`, { body })
    const uuids: string[] = []
    for (let count = 0; count < 30; count += 1) {
      const log = await recorded({ path: 'hello', messages: [], customIdentifier: 'customer' })
      uuids.push(String(log.body['uuid']))
    }
    const [first = '', ...others] = uuids
    // The server is killed after each deletion request, while earlier ones are being purged.
    expect((await api('DELETE', `/conversations/${first}`)).status).toBe(200)
    await served.kill()
    await served.start()
    expect((await api('GET', `/conversations/${first}`)).status).toBe(404)
    expect((await api('DELETE', `/conversations/${first}`)).status).toBe(404)
    const erased = api('DELETE', '/conversations?customIdentifier=customer').catch(() => undefined)
    await Promise.race([erased, new Promise((resolve) => setImmediate(resolve))])
    await served.kill()
    const answer = await erased
    await served.start()
    const state = async (uuid: string) => (await api('GET', `/conversations/${uuid}`)).status
    const states = new Set(await Promise.all(others.map(state)))
    // The deletion is atomic: a received request is finished, and a request that never arrived changed nothing.
    expect(states.size).toBe(1)
    if (answer) expect([...states]).toEqual([404])

    expect((await api('DELETE', `/projects/${project.id}`, { body: { name: 'scenario' } })).status).toBe(200)
    await served.kill()
    await served.start()
    expect((await api('GET', `/projects/${project.id}/versions`)).status).toBe(404)
    for (const uuid of others) expect(await state(uuid)).toBe(404)
    for (let left = 1; left > 0; ) {
      await served.stop()
      left = await rowsLeft(served.storage)
      if (left > 0) await served.start()
    }
  },
  processTestMs,
)
