import { expect, it, onTestFinished } from 'vitest'
import type { ApiAnswer } from '../http/api-call.ts'
import { count, timeFor } from '../support/counts.ts'
import { servedProject } from '../support/served-project.ts'
import { prompt } from './run-bench.ts'

// Five kinds of keys: 10,000 keys in all before a release.
const ofEachKind = count(10, 2_000)
const names = (kind: string) => Array.from({ length: ofEachKind }, (_, place) => `${kind}-${place}.`)

// Some requests are killed before they are stored, some during their work, some between commit and response.
it(
  "promise 15: after kill -9 between request and response, a repeated request returns the first request's work",
  async () => {
    const served = await servedProject({ hello: prompt('<user>{{ name }}</user>') }, { STET_LOG_LEVEL: 'off' })
    onTestFinished(() => served.close())
    const { api, fake, project } = served
    const { live, id: projectId } = project
    const draft = await project.newDraft()
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
      ...names('prompt').map((name) => ({ name, path: `${draft}/documents`, body: { path: `${name}md` } })),
      ...names('key').map((name) => ({ name, path: '/api-keys', body: { name } })),
    ]
    const send = ({ name, path, body }: (typeof requests)[number]) =>
      api('POST', path, { body, headers: { 'idempotency-key': name } })

    const answers = new Map<string, ApiAnswer>()
    fake.setDefault({ deltas: ['slow ', 'answer'], delayMs: 400 })
    const sent = requests.map((request) =>
      send(request).then(
        (answer) => void answers.set(request.name, answer),
        () => undefined,
      ),
    )
    await fake.waitForRequest(10)
    await expect.poll(() => answers.size, { timeout: 90_000 }).toBeGreaterThan(5)
    await served.kill()
    await Promise.all(sent)
    fake.setDefault({ text: 'After the restart.' })

    await served.start()
    const uuids = new Map<string, unknown>()
    for (const request of requests) {
      const earlier = answers.get(request.name)
      const again = await send(request)
      expect([200, 201, 422], again.text).toContain(again.status)
      if (again.status === 422) expect(again.body['errorCode']).toBe('worker_lost')
      if (earlier && earlier.status < 300) {
        expect(again.headers.get('idempotency-replayed'), request.name).toBe('true')
        if (request.name.startsWith('stream')) expect(again.text).toBe(earlier.text)
        else expect(again).toMatchObject({ status: earlier.status, body: earlier.body })
      }
      const third = await send(request)
      expect(third).toMatchObject({ status: again.status, body: again.body })
      expect(third.headers.get('idempotency-replayed')).toBe('true')
      if ('uuid' in again.body) uuids.set(request.name, again.body['uuid'])
    }
    for (const name of names('background')) await api('POST', `/conversations/${String(uuids.get(name))}/attach`)

    for (const name of [...names('json'), ...names('stream'), ...names('background')]) {
      const calls = fake.requests.filter(({ body }) => JSON.stringify(body['messages']).includes(`"${name}"`))
      // There is no call for a run that was stored but lost before its provider call.
      expect(calls.length, name).toBeLessThanOrEqual(1)
    }
    const versions = (await api('GET', `/projects/${projectId}/versions`)).body as unknown as { title: string }[]
    const keys = (await api('GET', '/api-keys')).body as unknown as { name: string }[]
    for (const name of names('version')) expect(versions.filter(({ title }) => title === name)).toHaveLength(1)
    for (const name of names('key')) expect(keys.filter((each) => each.name === name)).toHaveLength(1)
  },
  timeFor(5 * ofEachKind, 4_000),
)
