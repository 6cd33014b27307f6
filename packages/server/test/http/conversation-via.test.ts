/** The starter of a conversation and of each of its runs: an API key or a session of the console. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import { type Browser, browser } from './console-call.ts'

let bench: RunBench
let page: Browser
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>') })
  bench.fake.setDefault({ text: 'fine' })
  page = browser(bench.server.url)
  expect((await page.signIn({ apiKey: bench.key })).status).toBe(201)
})
afterAll(() => bench.close())

const messages = [{ role: 'user', content: 'More' }]
const fromPage = (method: string, path: string, body?: unknown) => page.call(method, `/api/v3${path}`, { body })

async function runsOf(uuid: string): Promise<unknown[]> {
  const sql = 'SELECT via FROM run WHERE conversation_uuid = $1::uuid ORDER BY epoch'
  return (await bench.server.database.session.query(sql, [uuid])).rows.map(({ via }) => via)
}

it('is console for requests of a session, and api for those of a key', async () => {
  const start = { path: 'hello', customIdentifier: 'via' }
  const run = `${bench.live}/documents/run`
  const inConsole = String((await fromPage('POST', run, start)).body['uuid'])
  const byKey = String((await bench.api('POST', run, { body: start })).body['uuid'])
  const queued = String((await fromPage('POST', run, { ...start, background: true })).body['uuid'])
  await bench.api('POST', `/conversations/${queued}/attach`, { body: {} })
  const log = await fromPage('POST', `${bench.live}/documents/logs`, { ...start, messages })
  const expected = {
    [inConsole]: 'console',
    [byKey]: 'api',
    [queued]: 'console',
    [String(log.body['uuid'])]: 'console',
  }
  for (const [uuid, via] of Object.entries(expected)) {
    expect((await bench.api('GET', `/conversations/${uuid}`)).body).toMatchObject({ uuid, via })
  }
  const { items } = (await bench.api('GET', '/conversations?customIdentifier=via')).body
  const shown = (items as { uuid: string; via: string }[]).map(({ uuid, via }) => [uuid, via])
  expect(Object.fromEntries(shown)).toEqual(expected)
  expect(await Promise.all([inConsole, byKey, queued].map(runsOf))).toEqual([['console'], ['api'], ['console']])
})

it('is recorded for each run, and a chat leaves that of the conversation', async () => {
  const uuid = String((await bench.run('hello')).body['uuid'])
  expect((await fromPage('POST', `/conversations/${uuid}/chat`, { messages })).status).toBe(200)
  expect((await bench.chat(uuid, { messages })).status).toBe(200)
  expect((await bench.api('GET', `/conversations/${uuid}`)).body['via']).toBe('api')
  expect(await runsOf(uuid)).toEqual(['api', 'console', 'api'])
})
