import { describe, expect, it } from 'vitest'
import { Stet } from '../src/index.ts'
import { events, json, localServer } from './support/local-server.ts'
import { frames, result, runEvents, UUID } from './support/sample-run.ts'

const RUN = frames(runEvents(['Hel', 'lo']))
const client = (url: string) => new Stet({ apiKey: 'k', baseUrl: url, projectId: 7, logLevel: 'off' })
/** Client options, which are never sent. */
const OWN = { idleTimeout: 5000, bufferEvents: true, onAbort: 'detach' as const, onText() {} }
const conversation = `/api/v3/conversations/${UUID}`

describe('a job', () => {
  it('is started with one call, then read, stopped and inspected by its uuid', async () => {
    const stopped = { uuid: UUID, stopped: true, status: 'stopped' }
    const { url, requests } = await localServer(json({ uuid: UUID }), events(RUN), events(RUN), json(stopped), json({}))
    const job = await client(url).prompts.run('a', { background: true, customIdentifier: 'c', ...OWN })
    expect(job.uuid).toBe(UUID)
    expect(requests[0]?.body).toEqual({ path: 'a', customIdentifier: 'c', background: true })
    expect(await job.result()).toMatchObject({ response: { text: 'Hello' } })
    expect(await job.attach().finalText()).toBe('Hello')
    expect(await job.stop()).toEqual(stopped)
    await job.conversation()
    const attach = { url: `${conversation}/attach`, body: { stream: true } }
    expect(requests.slice(1)).toMatchObject([attach, attach, { url: `${conversation}/stop` }, { url: conversation }])
  })

  it('streams by attaching, so that the run does not depend on the reader', async () => {
    const { url, requests } = await localServer(json({ uuid: UUID }), events(RUN))
    const stream = client(url).prompts.stream('a', { background: true })
    expect(await stream.finalText()).toBe('Hello')
    expect(requests.map(({ url: path, body }) => ({ path, body }))).toEqual([
      { path: '/api/v3/projects/7/versions/live/documents/run', body: { path: 'a', background: true } },
      { path: `${conversation}/attach`, body: { stream: true } },
    ])
  })
})

describe('attach', () => {
  it.each([null, undefined, ''])('with %j as the last event starts at the first one', async (lastEventId) => {
    const { url, requests } = await localServer(events(RUN))
    expect(await client(url).runs.attachStream(UUID, { lastEventId }).finalText()).toBe('Hello')
    expect(requests[0]?.headers['last-event-id']).toBeUndefined()
  })

  it('resumes after an event, also over JSON', async () => {
    const { url, requests } = await localServer(events(RUN), json(result('Hello')))
    const stet = client(url)
    expect(await stet.runs.attachStream(UUID, { lastEventId: '4' }).finalText()).toBe('Hello')
    expect(await stet.conversations.attach(UUID, { stream: false })).toMatchObject({ response: { text: 'Hello' } })
    expect(requests[0]?.headers['last-event-id']).toBe('4')
    expect(requests[1]).toMatchObject({ url: `${conversation}/attach`, body: { stream: false } })
    expect(requests[1]?.headers['last-event-id']).toBeUndefined()
  })
})
