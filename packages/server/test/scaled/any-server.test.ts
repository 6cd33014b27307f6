/** A run of one server is used through the others: stop, tool results, chat, lists and repeated requests. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { record, textOf } from '../runs/run-calls.ts'
import { count, timeFor } from '../support/counts.ts'
import { gate } from '../support/gate.ts'
import { startHeardTime } from '../support/heard-time.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const stops = count(6, 200)
const duplicates = 100
const repeatedKeys = count(1, 100)

let replicas: Replicas
let a: Replica
let b: Replica
let c: Replica
beforeAll(async () => {
  const prompts = {
    hello: prompt('<user>Hi {{ name }}</user>', 'maxRetries: 0\nparameters: { name: { type: text } }\n'),
    weather: prompt('<user>Weather?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n'),
  }
  replicas = await openReplicas(prompts, { environment: { STET_GRACE_MS: '0' } })
  a = replicas.server(0)
  b = replicas.server(1)
  c = replicas.server(2)
})
afterAll(() => replicas.close())

const hanging = { deltas: ['half ', 'way'], hang: 'mid-stream' } as const

describe('a run of server A', () => {
  it.each(['stream', 'json', 'background'] as const)('%s: is read, listed and continued on server B', async (kind) => {
    replicas.fake.enqueue({ text: `First ${kind}.` }, { text: `Second ${kind}.` })
    let uuid: string
    if (kind === 'stream') uuid = (await a.stream('hello')).headers.get('x-conversation-uuid') ?? ''
    else if (kind === 'json') uuid = String((await a.run('hello')).body['uuid'])
    else {
      uuid = await a.background('hello')
      expect(await b.attach(uuid)).toMatchObject({ status: 200, body: { response: { text: 'First background.' } } })
    }
    expect(await b.conversation(uuid)).toMatchObject({ uuid, status: 'completed' })
    const { body } = await b.api('GET', `/conversations?projectId=${replicas.project.id}`)
    expect(JSON.stringify(body)).toContain(uuid)
    const seen = await Promise.all([a, b, c].map(({ streamAttach }) => streamAttach(uuid)))
    expect(new Set(seen.map(({ text }) => text)).size).toBe(1)
    const answer = await b.chat(uuid, { messages: [{ role: 'user', content: 'And then?' }] })
    expect(answer).toMatchObject({ status: 200, body: { response: { text: `Second ${kind}.` } } })
    const asked = JSON.stringify(replicas.fake.requests.at(-1)?.body['messages'])
    expect(asked).toContain(`First ${kind}.`)
    expect(await c.conversation(uuid)).toMatchObject({ status: 'completed' })
  })

  it(
    'promise 7: a stop through server C ends its provider call within a second',
    async () => {
      for (let stop = 0; stop < stops; stop += 1) {
        const calls = replicas.fake.requests.length
        replicas.fake.enqueue(hanging)
        const [owner, stopper] = stop % 2 === 0 ? [a, c] : [b, a]
        const isBackground = stop % 3 === 0
        const stream = isBackground ? undefined : await owner.open('hello')
        const uuid = stream?.headers.get('x-conversation-uuid') ?? (await owner.background('hello'))
        const request = await replicas.fake.waitForRequest(calls + 1)
        const heard = startHeardTime()
        const stopping = stopper.stop(uuid)
        await request.left
        heard.stop()
        expect(heard.passedMs()).toBeLessThan(1_000)
        expect(await stopping).toMatchObject({ status: 200, body: { uuid, stopped: true } })
        const { last } = stream ? await record(stream) : await b.streamAttach(uuid)
        expect(last).toMatchObject({ type: 'chain-error', error: { code: 'abort_error' } })
        expect(await b.conversation(uuid)).toMatchObject({ status: 'stopped' })
      }
    },
    timeFor(stops, 3_000),
  )

  it('goes on for a reader on server C when its client leaves, and gets its tool result through server B', async () => {
    replicas.fake.enqueue(
      { toolCalls: [{ id: 'call', name: 'get_weather', arguments: {} }] },
      { text: 'Sunny, says B.' },
    )
    const leaving = new AbortController()
    const stream = await a.open('weather', { tools: ['get_weather'] }, leaving.signal)
    const uuid = stream.headers.get('x-conversation-uuid') ?? ''
    const attached = await c.post(`/conversations/${uuid}/attach`, { stream: true })
    const toolCallId = await firstToolCall(attached.clone())
    const readersOnA = async () =>
      /^stet_event_log_readers (\d+)$/m.exec(await (await fetch(`${a.url}/metrics`)).text())?.[1]
    await expect.poll(readersOnA).toBe('2')
    leaving.abort()
    await expect.poll(readersOnA).toBe('1')
    expect(await b.api('POST', '/tools/results', { body: { toolCallId, result: 'sun' } })).toMatchObject({
      status: 200,
    })
    expect(textOf(await record(attached))).toBe('Sunny, says B.')
    expect(JSON.stringify(replicas.fake.requests.at(-1)?.body['messages'])).toContain('sun')
  })

  it('of the OpenAI door is resumed on the other servers, and continued in the background through any of them', async () => {
    const v1 = (replica: Replica, path: string, body?: object) =>
      fetch(`${replica.url}/v1${path}`, {
        headers: { authorization: `Bearer ${replicas.key}`, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
    const model = `${replicas.project.id}/hello`
    const held = gate()
    replicas.fake.enqueue({ deltas: ['one ', 'two ', 'three'], gate: held.opened })
    const whole = await v1(a, '/responses', { model, stream: true })
    const id = await firstMatch(whole.clone(), /"id":"(resp_[0-9a-f]+)".*output_text\.delta/s)
    const resumed = await Promise.all(
      [b, c].map((server) => v1(server, `/responses/${id}?stream=true&starting_after=4`)),
    )
    held.open()
    const frames = (await textIn(whole)).split('\n\n')
    for (const one of resumed) expect((await textIn(one)).split('\n\n')).toEqual(frames.slice(5))
    expect(frames.length).toBeGreaterThan(8)
    replicas.fake.enqueue({ text: 'four' })
    const more = { model, previous_response_id: id, input: 'And then?', background: true }
    const { id: next } = (await (await v1(b, '/responses', more)).json()) as { id: string }
    const read = async () => (await (await v1(c, `/responses/${next}`)).json()) as Record<string, unknown>
    await expect.poll(async () => (await read())['status']).toBe('completed')
    expect(JSON.stringify((await read())['output'])).toContain('four')
    expect(JSON.stringify(replicas.fake.requests.at(-1)?.body['messages'])).toContain('one two three')
  })
})

/** A server also writes pings between the events. */
const textIn = async (response: Response) => (await response.text()).replaceAll(': ping\n', '')

const firstToolCall = (response: Response) => firstMatch(response, /"toolCallId":"([^"]+)"/)

async function firstMatch({ body }: Response, pattern: RegExp): Promise<string> {
  const decoder = new TextDecoder()
  let seen = ''
  // The other copy of the body is read later, and a canceled copy would wait for it.
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    seen += decoder.decode(chunk as Uint8Array, { stream: true })
    const found = pattern.exec(seen)?.[1]
    if (found !== undefined) return found
  }
  throw new Error('The run ended without a match')
}

it(
  'promise 15: duplicates of a request that spread over three servers make one provider call and get one answer',
  async () => {
    for (let key = 0; key < repeatedKeys; key += 1) {
      for (const kind of [{}, { stream: true }, { background: true }]) {
        const name = `repeated-${key}-${JSON.stringify(kind).length}.`
        replicas.fake.setDefault({ deltas: ['one ', 'answer'], delayMs: 50 })
        const headers = { 'idempotency-key': name }
        const body = { path: 'hello', parameters: { name }, ...kind }
        const answers = await Promise.all(
          Array.from({ length: duplicates }, (_, place) =>
            replicas.server(place % 3).api('POST', `${replicas.project.live}/documents/run`, { body, headers }),
          ),
        )
        const [first] = answers
        for (const answer of answers) {
          expect(answer.status, answer.text).toBe(200)
          if (answer.text !== first?.text) expect(answer.text).toBe(first?.text)
        }
        expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') !== 'true')).toHaveLength(1)
        if ('background' in kind) expect(await c.attach(String(first?.body['uuid']))).toMatchObject({ status: 200 })
        const calls = replicas.fake.requests.filter(({ body: { messages } }) => JSON.stringify(messages).includes(name))
        expect(calls).toHaveLength(1)
      }
    }
    replicas.fake.setDefault({ text: 'Hello.' })
  },
  timeFor(3 * repeatedKeys, 10_000),
)
