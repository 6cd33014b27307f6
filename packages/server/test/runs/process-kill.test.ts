/** After kill -9 and a restart, everything that clients received must be true, for runs of every kind. */
import { expect, it, onTestFinished } from 'vitest'
import { count, timeFor } from '../support/counts.ts'
import { openTestDatabase } from '../support/database-open.ts'
import type { FakeReply, FakeRequest } from '../support/fake-provider.ts'
import { type ServedProject, servedProject } from '../support/served-project.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { prompt, record } from './run-bench.ts'

const runsOfEachKind = count(50, 500)
/** A busy machine takes minutes until all runs are active, and again for the requests after the restart. */
const patienceMs = timeFor(5 * runsOfEachKind, 1_000)

interface Ledger {
  named: Set<string>
  completed: Set<string>
  /** The error code by conversation. A run may time out on an overloaded machine. */
  failed: Map<string, string>
  /** The text of an accepted chat message, by conversation. */
  chats: Map<string, string>
  results: Map<string, string>
}

let hasRestarted = false
let asked = 0

/** Every third answer is complete. The others never end, so that the kill interrupts their runs. */
function reply({ body }: FakeRequest): FakeReply {
  if (hasRestarted) return { text: 'After the restart.' }
  if (Array.isArray(body['tools'])) {
    const isAnswered = (body['messages'] as { role: string }[]).some(({ role }) => role === 'tool')
    const call = { id: 'a', name: 'get_weather', arguments: {} }
    return isAnswered ? { deltas: ['half '], hang: 'mid-stream' } : { toolCalls: [call] }
  }
  asked += 1
  if (asked % 3 === 0) return { text: 'Whole.' }
  return body['stream'] === true ? { deltas: ['half ', 'way'], hang: 'mid-stream' } : { text: 'x', hang: 'after-head' }
}

const prompts = {
  hello: prompt('<user>Hi</user>'),
  tools: prompt('<user>Weather?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n'),
}

type Client = Pick<ServedProject, 'api' | 'post'>

async function follow(ledger: Ledger, answer: Promise<Response>, onFrame?: (text: string) => void): Promise<void> {
  const response = await answer
  expect([200, 422]).toContain(response.status)
  const uuid = response.headers.get('x-conversation-uuid') ?? ''
  ledger.named.add(uuid)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    onFrame?.(text)
    if (isStream && text.includes('"type":"chain-completed"')) ledger.completed.add(uuid)
  }
  if (!isStream && text.includes('"response"')) ledger.completed.add(uuid)
  const code = /"errorCode":"(\w+)"/.exec(text)?.[1]
  if (code !== undefined) ledger.failed.set(uuid, code)
}

function answersTools(client: Client, ledger: Ledger, answers: boolean): (text: string) => void {
  let hasAnswered = !answers
  return (text) => {
    const id = /"type":"tool-call"[^}]*?"toolCallId":"([^"]+)"/.exec(text)?.[1]
    if (hasAnswered || id === undefined) return
    hasAnswered = true
    const result = `sunny ${id}`
    const body = { toolCallId: id, result }
    client.api('POST', '/tools/results', { body }).then(
      ({ status }) => status === 200 && ledger.results.set(id, result),
      () => undefined,
    )
  }
}

/** Starts many concurrent runs of each kind. Resolves when the server has died and every client has noticed. */
function startAll(client: Client, ledger: Ledger, live: string, conversations: readonly string[]): Promise<unknown> {
  const run = (body: object, onFrame?: (text: string) => void) =>
    follow(ledger, client.post(`${live}/documents/run`, { path: 'hello', ...body }), onFrame)
  const chat = async (uuid: string, index: number) => {
    const content = `chat ${index}`
    const stream = index % 2 === 0
    const answer = client.post(`/conversations/${uuid}/chat`, { messages: [{ role: 'user', content }], stream })
    const told = answer.then((response) => {
      if (response.status === 200) ledger.chats.set(uuid, content)
      return response
    })
    await follow(ledger, told)
  }
  const callers = Array.from({ length: runsOfEachKind }, (_, index) => [
    run({}),
    run({ stream: true }),
    run({ background: true }),
    run({ path: 'tools', stream: true, tools: ['get_weather'] }, answersTools(client, ledger, index % 2 === 0)),
    chat(conversations[index] ?? '', index),
  ])
  // Broken connections are expected here. All other errors fail the test.
  const quiet = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error
    })
  return Promise.all(callers.flat().map(quiet))
}

async function expectRows(storage: TestDatabase, ledger: Ledger, killedAt: Date): Promise<void> {
  const database = await openTestDatabase(storage)
  const { rows } = await database.session.query(
    `SELECT r.status, r.error_code, r.ended_at, r.ended_at IS NULL AS open, r.event_log IS NULL AS unlogged, c.uuid::text AS uuid,
       r.epoch < c.epoch OR c.status = r.status AS same, c.origin, json_array_length(c.messages) AS messages FROM run r JOIN conversation c ON c.uuid = r.conversation_uuid`,
  )
  const { rows: calls } = await database.session.query(`SELECT id, state, result FROM tool_call`)
  await database.close()
  for (const row of rows) {
    expect(row).toMatchObject({ open: false, unlogged: false, same: true })
    expect(['completed', 'error']).toContain(row['status'])
    // The client only has the uuid, so the first messages must exist, however the run ended.
    if (row['origin'] === 'background') expect(row['messages']).toBeGreaterThan(0)
    const told = ledger.failed.get(String(row['uuid']))
    const endedInTime = (row['ended_at'] as Date) < killedAt
    if (row['status'] === 'error' && (told !== undefined || !endedInTime)) {
      expect(row['error_code']).toBe(told ?? 'worker_lost')
    }
  }
  expect(rows.filter((row) => row['error_code'] === 'worker_lost').length).toBeGreaterThan(2 * runsOfEachKind)
  const stored = new Set(rows.map((row) => row['uuid']))
  expect([...ledger.named].filter((uuid) => !stored.has(uuid))).toEqual([])
  const answered = new Map(calls.map((row) => [row['id'], row]))
  for (const [id, result] of ledger.results) {
    expect(answered.get(id)).toMatchObject({ state: 'answered', result: JSON.stringify(result) })
  }
}

it(
  'promise 1: after kill -9 during runs of each kind and a restart, each run has one definite end and nothing reported is lost',
  async () => {
    const served = await servedProject(prompts, { STET_LOG_LEVEL: 'off' })
    onTestFinished(() => served.close())
    const { api, fake, post, project } = served
    const { live } = project
    fake.enqueue(...Array.from({ length: 20 * runsOfEachKind }, () => reply))
    const recorded = Array.from({ length: runsOfEachKind }, async () => {
      const body = { path: 'hello', messages: [{ role: 'user', content: 'Before' }], response: 'Good' }
      return String((await api('POST', `${live}/documents/logs`, { body })).body['uuid'])
    })
    const conversations = await Promise.all(recorded)

    const ledger: Ledger = {
      named: new Set(),
      completed: new Set(),
      failed: new Map(),
      chats: new Map(),
      results: new Map(),
    }
    const callers = startAll(served, ledger, live, conversations)
    const isUnderWay = () =>
      ledger.named.size >= 3 * runsOfEachKind &&
      ledger.completed.size >= runsOfEachKind / 2 &&
      ledger.chats.size >= runsOfEachKind / 2 &&
      ledger.results.size >= runsOfEachKind / 4
    await expect.poll(isUnderWay, { timeout: patienceMs }).toBe(true)
    const killedAt = new Date()
    await served.kill()
    hasRestarted = true
    await served.start()
    await callers

    await Promise.all(
      [...ledger.named].map(async (uuid) => {
        const { status, text, types } = await record(await post(`/conversations/${uuid}/attach`, { stream: true }))
        expect(status, text).toBe(200)
        expect(ledger.completed.has(uuid) ? ['chain-completed'] : ['chain-completed', 'chain-error']).toContain(
          types.at(-1),
        )
      }),
    )
    for (const [uuid, content] of ledger.chats) {
      const { body } = await api('GET', `/conversations/${uuid}`)
      expect(JSON.stringify(body['conversation']).split(`"${content}"`), uuid).toHaveLength(2)
    }
    const [lost = ''] = [...ledger.chats.keys()].filter(
      (uuid) => !ledger.completed.has(uuid) && !ledger.failed.has(uuid),
    )
    const again = await api('POST', `/conversations/${lost}/chat`, {
      body: { messages: [{ role: 'user', content: 'Are you back?' }] },
    })
    expect(again).toMatchObject({ status: 200, body: { response: { text: 'After the restart.' } } })
    // A run queued before its response may have been requested again since.
    const asked = fake.requests.map(({ body }) => JSON.stringify(body['messages']))
    expect(asked.find((messages) => messages.includes('Are you back?'))).toContain(String(ledger.chats.get(lost)))
    await served.stop()
    await expectRows(served.storage, ledger, killedAt)
  },
  2 * patienceMs,
)
