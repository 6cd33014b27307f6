import { expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { type ApiAnswer, apiCaller } from '../http/api-call.ts'
import { createTestProject, issueKey } from '../http/scenario.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { processTestMs, settingsFor, startServer } from '../support/server-process.ts'
import { testDatabase } from '../support/test-database.ts'
import { prompt } from './run-bench.ts'

const ofEachKind = 10
const names = (kind: string) => Array.from({ length: ofEachKind }, (_, place) => `${kind}-${place}.`)

// Some are killed before they were stored, some in their work, some between their commit and their answer.
it(
  'promise 15: kill -9 between call and answer: after the restart a repetition has the work of the first request',
  async () => {
    const target = await testDatabase()
    const fake = await fakeProvider()
    const adminKey = generateApiKey()
    const environment = {
      ...settingsFor(target),
      STET_ADMIN_KEY: adminKey,
      STET_LOG_LEVEL: 'off',
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: fake.url,
    }
    const first = await startServer(environment)
    const key = await issueKey(apiCaller(first.url, adminKey), { scopes: ['admin'], plan: 'custom', limit: 100_000 })
    const api = apiCaller(first.url, key)
    const { live, id: projectId } = await createTestProject(api, { hello: prompt('<user>{{ name }}</user>') })
    const bodies = { json: {}, stream: { stream: true }, background: { background: true } }
    const requests = [
      ...Object.entries(bodies).flatMap(([kind, body]) =>
        names(kind).map((name) => ({
          name,
          path: `${live}/documents/run`,
          body: { path: 'hello', parameters: { name }, ...body },
        })),
      ),
      ...names('version').map((name) => ({ name, path: `/projects/${projectId}/versions`, body: { name } })),
      ...names('key').map((name) => ({ name, path: '/api-keys', body: { name } })),
    ]
    const send = (url: string, { name, path, body }: (typeof requests)[number]) =>
      apiCaller(url, key)('POST', path, { body, headers: { 'idempotency-key': name } })

    const answers = new Map<string, ApiAnswer>()
    fake.setDefault({ deltas: ['slow ', 'answer'], delayMs: 400 })
    const sent = requests.map((request) =>
      send(first.url, request).then(
        (answer) => void answers.set(request.name, answer),
        () => undefined,
      ),
    )
    await fake.waitForRequest(10)
    await expect.poll(() => answers.size, { timeout: 90_000 }).toBeGreaterThan(5)
    first.child.kill('SIGKILL')
    await first.ended
    await Promise.all(sent)
    fake.setDefault({ text: 'After the restart.' })

    const second = await startServer(environment)
    const uuids = new Map<string, unknown>()
    for (const request of requests) {
      const earlier = answers.get(request.name)
      const again = await send(second.url, request)
      expect([200, 201, 422], again.text).toContain(again.status)
      if (again.status === 422) expect(again.body['errorCode']).toBe('worker_lost')
      if (earlier && earlier.status < 300) {
        expect(again.headers.get('idempotency-replayed'), request.name).toBe('true')
        if (request.name.startsWith('stream')) expect(again.text).toBe(earlier.text)
        else expect(again).toMatchObject({ status: earlier.status, body: earlier.body })
      }
      // Whatever it was, from now on it stays.
      const third = await send(second.url, request)
      expect(third).toMatchObject({ status: again.status, body: again.body })
      expect(third.headers.get('idempotency-replayed')).toBe('true')
      if ('uuid' in again.body) uuids.set(request.name, again.body['uuid'])
    }
    const after = apiCaller(second.url, key)
    for (const name of names('background')) await after('POST', `/conversations/${String(uuids.get(name))}/attach`)

    for (const name of [...names('json'), ...names('stream'), ...names('background')]) {
      const calls = fake.requests.filter(({ body }) => JSON.stringify(body['messages']).includes(`"${name}"`))
      // None for a run that was stored and lost before it came to its call.
      expect(calls.length, name).toBeLessThanOrEqual(1)
    }
    const versions = (await after('GET', `/projects/${projectId}/versions`)).body as unknown as { title: string }[]
    const keys = (await after('GET', '/api-keys')).body as unknown as { name: string }[]
    for (const name of names('version')) expect(versions.filter(({ title }) => title === name)).toHaveLength(1)
    for (const name of names('key')) expect(keys.filter((each) => each.name === name)).toHaveLength(1)

    second.child.kill('SIGTERM')
    await second.ended
    await fake.close()
    await target.close()
  },
  2 * processTestMs,
)
