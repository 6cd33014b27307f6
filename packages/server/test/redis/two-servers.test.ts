import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateEncryptionKey } from '../../src/data-files.ts'
import { apiCaller } from '../http/api-call.ts'
import { browser } from '../http/console-call.ts'
import type { Api } from '../http/scenario.ts'
import { prompt, type Recording, type RunBench, record, runBench } from '../runs/run-bench.ts'
import { deleteKeys, redisUrl } from '../support/shared-logs.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'
import { type TestServer, testServer } from '../support/test-server.ts'

const databaseServer = process.env['STET_TEST_DATABASE_URL']

function gate(): { opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describe.skipIf(!databaseServer)('two servers on one database and one Redis', () => {
  const prefix = `stet-test-${randomUUID()}`
  let storage: TestDatabase
  let bench: RunBench
  let other: TestServer
  let otherApi: Api

  beforeAll(async () => {
    storage = await testDatabase(databaseServer)
    const shared = {
      DATABASE_URL: storage.databaseUrl ?? '',
      REDIS_URL: redisUrl,
      STET_REDIS_PREFIX: prefix,
      STET_ENCRYPTION_KEY: generateEncryptionKey(),
    }
    bench = await runBench({ hello: prompt('<user>Hi</user>') }, { ...shared, STET_GRACE_MS: '1000' })
    other = await testServer({
      environment: { ...shared, OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: bench.fake.url },
    })
    otherApi = apiCaller(other.url, bench.key)
  })
  afterAll(async () => {
    await other.close()
    await bench.close()
    await storage.close()
    await deleteKeys(prefix)
  })

  const postElsewhere = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${other.url}/api/v3${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const attachElsewhere = async (uuid: string): Promise<Recording> =>
    record(await postElsewhere(`/conversations/${uuid}/attach`, { stream: true }))

  /** A streamed run on the first server that waits in the middle of its answer. */
  async function openHalf(headers: Record<string, string> = {}) {
    const goOn = gate()
    const deltas = Array.from({ length: 20 }, (_, place) => `wörd${place} `)
    const calls = bench.fake.requests.length
    bench.fake.enqueue({ deltas, gate: goOn.opened, gateAfter: 10 })
    const leaving = new AbortController()
    const url = `${bench.live}/documents/run`
    const stream = await bench.post(url, { path: 'hello', stream: true }, headers, leaving.signal)
    await bench.fake.waitForRequest(calls + 1)
    return { uuid: stream.headers.get('x-conversation-uuid') ?? '', stream, goOn, leave: () => leaving.abort() }
  }

  it('a session works on both servers, until its key is revoked or it is ended on one of them', async () => {
    const signIn = async () => {
      const { body } = await bench.api('POST', '/api-keys', { body: { name: 'session' } })
      const page = browser(bench.server.url)
      expect((await page.signIn({ apiKey: String(body['key']) })).status).toBe(201)
      const elsewhere = Object.assign(browser(other.url), { cookie: page.cookie })
      const statuses = async () => {
        const answers = [page, elsewhere].map((each) => each.call('GET', '/api/v3/me'))
        return (await Promise.all(answers)).map(({ status }) => status)
      }
      return { id: String(body['id']), elsewhere, statuses }
    }
    const [revoked, ended] = [await signIn(), await signIn()]
    expect([await revoked.statuses(), await ended.statuses()]).toEqual([
      [200, 200],
      [200, 200],
    ])
    expect((await otherApi('DELETE', `/api-keys/${revoked.id}`)).status).toBe(200)
    expect(await revoked.statuses()).toEqual([401, 401])
    expect((await ended.elsewhere.call('DELETE', '/console/session')).status).toBe(204)
    expect(await ended.statuses()).toEqual([401, 401])
  })

  it('attaches to a run of the other server with the same bytes', async () => {
    const { uuid, stream, goOn } = await openHalf()
    const attached = [attachElsewhere(uuid), attachElsewhere(uuid)]
    const json = otherApi('POST', `/conversations/${uuid}/attach`, { body: {} })
    goOn.open()
    const { text } = await record(stream)
    for (const each of attached) expect((await each).text).toBe(text)
    expect((await json).body).toMatchObject({ uuid })
    expect((await attachElsewhere(uuid)).text).toBe(text)
  })

  it('keeps a run without its own client while another server has a reader', async () => {
    const { uuid, goOn, leave } = await openHalf()
    const stream = await postElsewhere(`/conversations/${uuid}/attach`, { stream: true })
    const reading = stream.body?.getReader()
    await reading?.read()
    leave()
    // Longer than the grace time of the run.
    const stopAt = performance.now() + 1_500
    await expect.poll(() => performance.now() > stopAt).toBe(true)
    goOn.open()
    await expect.poll(async () => (await bench.conversation(uuid))['status']).toBe('completed')
    await reading?.cancel()
  })

  it('stops a run of the other server and waits for its end', async () => {
    const { uuid, stream } = await openHalf()
    const stopped = await otherApi('POST', `/conversations/${uuid}/stop`)
    expect(stopped.body).toMatchObject({ uuid, stopped: true, status: 'stopped' })
    expect((await record(stream)).types.at(-1)).toBe('chain-error')
    expect((await attachElsewhere(uuid)).types.at(-1)).toBe('chain-error')
  })

  it.each([true, false])('joins a run of the other server by its Idempotency-Key (stream: %s)', async (stream) => {
    const headers = { 'idempotency-key': randomUUID() }
    const goOn = gate()
    bench.fake.enqueue({ deltas: ['a', 'b', 'c'], gate: goOn.opened, gateAfter: 1 })
    const calls = bench.fake.requests.length
    const path = `${bench.live}/documents/run`
    const first = bench.post(path, { path: 'hello', stream }, headers)
    await bench.fake.waitForRequest(calls + 1)
    const joined = postElsewhere(path, { path: 'hello', stream }, headers)
    goOn.open()
    const texts = await Promise.all([first, joined].map(async (answer) => (await answer).text()))
    expect(texts[1]).toBe(texts[0])
    expect(bench.fake.requests.length).toBe(calls + 1)
  })

  it('shows a queued run to readers of both servers, wherever it starts', async () => {
    const goOn = gate()
    bench.fake.enqueue({ deltas: ['a', 'b', 'c'], gate: goOn.opened, gateAfter: 1 })
    const uuid = await bench.background('hello')
    const readings = [bench.streamAttach(uuid), attachElsewhere(uuid)]
    goOn.open()
    const [here, there] = await Promise.all(readings)
    expect(here?.types.at(-1)).toBe('chain-completed')
    expect(there?.text).toBe(here?.text)
  })
})
