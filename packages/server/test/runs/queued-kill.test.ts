import { expect, it, onTestFinished } from 'vitest'
import { servedProject } from '../support/served-project.ts'
import { processTestMs } from '../support/server-process.ts'
import { prompt } from './run-bench.ts'

it(
  'promise 1: background runs queued at a kill -9 start in order after the restart',
  async () => {
    const served = await servedProject(
      { hello: prompt('<user>Hi {{ name }}</user>') },
      { STET_WORKERS: '1', STET_LOG_LEVEL: 'off' },
    )
    onTestFinished(() => served.close())
    const { api, fake, project } = served
    const background = async (name: string) => {
      const body = { path: 'hello', background: true, parameters: { name } }
      return String((await api('POST', `${project.live}/documents/run`, { body })).body['uuid'])
    }
    fake.enqueue({ deltas: ['half ', 'way'], hang: 'mid-stream' })
    const driven = await background('0')
    await fake.waitForRequest(1)
    const names = ['1', '2', '3', '4', '5']
    const queued: string[] = []
    for (const name of names) queued.push(await background(name))
    for (const uuid of queued) {
      expect((await api('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'queued' })
    }
    expect(fake.requests).toHaveLength(1)

    await served.kill()
    fake.setDefault({ text: 'After the restart.' })
    await served.start()

    const attach = (uuid: string) => api('POST', `/conversations/${uuid}/attach`, { body: {} })
    for (const answer of await Promise.all(queued.map(attach))) {
      expect(answer).toMatchObject({ status: 200, body: { response: { text: 'After the restart.' } } })
    }
    for (const uuid of queued) {
      expect((await api('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'completed' })
    }
    expect(await attach(driven)).toMatchObject({ status: 422, body: { errorCode: 'worker_lost' } })
    // Each run was sent once, in order. Requests that the kill interrupted were not sent again.
    const asked = fake.requests.map(({ body }) => /Hi (\d)/.exec(JSON.stringify(body['messages']))?.[1])
    expect(asked).toEqual(['0', ...names])
  },
  processTestMs,
)
