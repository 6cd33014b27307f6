import { describe, expect, it, onTestFinished } from 'vitest'
import { prompt, runBench } from '../runs/run-bench.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { isSkippedWithoutServer } from '../support/database-server.ts'
import { testDatabase } from '../support/test-database.ts'

/** Outages under load are in test/scaled/database-away. */
describe.skipIf(isSkippedWithoutServer('a lost response of PostgreSQL'))('database whose responses are lost', () => {
  it('does not leave a conversation busy whose chat was stored', async () => {
    const target = await testDatabase()
    const proxy = await startDatabaseProxy(target.databaseUrl ?? '')
    const prompts = { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') }
    const environment = { DATABASE_URL: proxy.url, STET_LOG_LEVEL: 'off' }
    const bench = await runBench(prompts, environment, { lease: { reapEveryMs: 500 } })
    onTestFinished(async () => {
      await proxy.comeBack()
      await bench.close()
      await proxy.goAway()
      await target.close()
    })
    const uuid = String((await bench.run('hello')).body['uuid'])
    const question = 'Did you get this?'
    const messages = [{ role: 'user', content: question }]
    // Drops responses from the statement that stores the question. Earlier statements are answered.
    proxy.loseAnswersFrom(question)
    expect(await bench.chat(uuid, { messages })).toMatchObject({ status: 503 })
    await proxy.comeBack()
    const patient = { timeout: 90_000 }
    await expect.poll(async () => (await fetch(`${bench.server.url}/ready`)).status, patient).toBe(200)
    await expect.poll(async () => (await bench.conversation(uuid))['status'], patient).toBe('error')
    const lost = await bench.conversation(uuid)
    expect(lost).toMatchObject({ error: { errorCode: 'unknown_error', message: 'The run could not be stored' } })
    expect(JSON.stringify(lost['conversation'])).toContain(question)
    expect((await bench.chat(uuid, { messages })).status).toBe(200)
  }, 300_000)
})
