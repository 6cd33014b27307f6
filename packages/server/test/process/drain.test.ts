import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject } from '../http/scenario.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { gate } from '../support/gate.ts'
import { processTestMs, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

const key = generateApiKey()
const authorization = `Bearer ${key}`
const text = 'one two three four five six'
let storage: TestDatabase
let provider: FakeProvider
let server: ServerProcess
let runUrl: string

beforeAll(async () => {
  storage = await testDatabase()
  provider = await fakeProvider()
})
afterAll(async () => {
  await provider.close()
  await storage.close()
})

beforeEach(async () => {
  server = await startServer({
    ...settingsFor(storage),
    STET_ADMIN_KEY: key,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: provider.url,
  })
  const { live } = await createTestProject(apiCaller(server.url, key), {
    hello: '---\nprovider: openai\nmodel: m\n---\nHello',
  })
  runUrl = `${server.url}/api/v3${live}/documents/run`
})
afterEach(async () => {
  server.child.kill('SIGKILL')
  // The server holds the database lock until it exits. The next server needs that lock.
  await server.ended
})

function run(stream: boolean): Promise<Response> {
  return fetch(runUrl, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'hello', stream }),
  })
}

function heldAnswer(): { release(): void } {
  const { opened, open } = gate()
  provider.enqueue({ text, gate: opened })
  return { release: open }
}

async function refusesConnections(): Promise<void> {
  while (
    await fetch(`${server.url}/health`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    )
  ) {
    await delay(10)
  }
}

interface PlainAnswer {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
}

function get(path: string, agent: Agent): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    request(`${server.url}${path}`, { agent, headers: { authorization } }, (answer) => {
      answer.resume().once('end', () => resolve({ status: answer.statusCode, headers: answer.headers }))
    })
      .once('error', reject)
      .end()
  })
}

describe('SIGTERM', { timeout: processTestMs }, () => {
  it('lets an open stream and a JSON run finish, returns 503 for new requests on an open connection, and exits with 0', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const kept = await get('/api/v3/me', agent)
    expect(kept).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
    const before = provider.requests.length
    const held = [heldAnswer(), heldAnswer()]
    const stream = await run(true)
    const json = run(false)
    await provider.waitForRequest(before + 2)
    server.child.kill('SIGTERM')
    await refusesConnections()
    const refused = await get('/api/v3/me', agent)
    expect(refused).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } })
    for (const { release } of held) release()
    const events = await stream.text()
    expect(events).toContain('"type":"chain-completed"')
    expect(events.trimEnd().split('\n\n').at(-1)).toContain('"type":"chain-completed"')
    const answer = await json
    expect(answer.status).toBe(200)
    expect(answer.headers.get('connection')).toBe('close')
    expect(await answer.text()).toContain(text)
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
    agent.destroy()
  })

  it('exits immediately after a second signal', async () => {
    const before = provider.requests.length
    heldAnswer()
    const stream = await run(true)
    await provider.waitForRequest(before + 1)
    server.child.kill('SIGTERM')
    await refusesConnections()
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(1)
    await expect(stream.text()).rejects.toThrow()
  })
})
