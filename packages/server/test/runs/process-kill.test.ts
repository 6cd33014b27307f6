/** After kill -9 and a restart, everything that clients received must be true, for runs and requests of every kind. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { ApiAnswer } from '../http/api-call.ts'
import { type Api, createTestProject } from '../http/scenario.ts'
import { count, timeFor } from '../support/counts.ts'
import { openTestDatabase } from '../support/database-open.ts'
import type { FakeReply, FakeRequest } from '../support/fake-provider.ts'
import { type ServedProject, servedProject } from '../support/served-project.ts'
import { processTestMs } from '../support/server-process.ts'
import { prompt, record } from './run-bench.ts'

const runsOfEachKind = count(5, 500)
/** A busy machine takes minutes until all runs are active, and again for the requests after the restart. */
const patienceMs = timeFor(5 * runsOfEachKind, 1_000)
// Six kinds of requests: 12,000 keys in all before a release.
const keysOfEachKind = count(3, 2_000)
// Publications of one project follow one another, and so do rollbacks.
const publications = count(8, 200)
const rollbacks = count(6, 50)

let served: ServedProject
beforeAll(async () => {
  const prompts = {
    hello: prompt('<user>Hi {{ name }}</user>', 'parameters: { name: { type: text, default: you } }\n'),
    tools: prompt('<user>Weather?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n'),
  }
  // All runs are active at once, with one key.
  const limits = { STET_MAX_STREAMS_PER_KEY: '100000', STET_MAX_QUEUED_PER_KEY: '100000' }
  served = await servedProject(prompts, { STET_LOG_LEVEL: 'off', ...limits })
}, processTestMs)
afterAll(() => served.close())
beforeEach(() => {
  served.fake.clear()
  served.fake.setDefault({ text: 'After the restart.' })
})

interface Ledger {
  named: Set<string>
  completed: Set<string>
  /** The error code by conversation. A run may time out on an overloaded machine. */
  failed: Map<string, string>
  /** The text of an accepted chat message, by conversation. */
  chats: Map<string, string>
  results: Map<string, string>
}

let asked = 0

/** Every third answer is complete. The others never end, so that the kill interrupts their runs. */
function reply({ body }: FakeRequest): FakeReply {
  if (Array.isArray(body['tools'])) {
    const isAnswered = (body['messages'] as { role: string }[]).some(({ role }) => role === 'tool')
    const call = { id: 'a', name: 'get_weather', arguments: {} }
    return isAnswered ? { deltas: ['half '], hang: 'mid-stream' } : { toolCalls: [call] }
  }
  asked += 1
  if (asked % 3 === 0) return { text: 'Whole.' }
  return body['stream'] === true ? { deltas: ['half ', 'way'], hang: 'mid-stream' } : { text: 'x', hang: 'after-head' }
}

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

function answersTools(ledger: Ledger, answers: boolean): (text: string) => void {
  let hasAnswered = !answers
  return (text) => {
    const id = /"type":"tool-call"[^}]*?"toolCallId":"([^"]+)"/.exec(text)?.[1]
    if (hasAnswered || id === undefined) return
    hasAnswered = true
    const result = `sunny ${id}`
    const body = { toolCallId: id, result }
    served.api('POST', '/tools/results', { body }).then(
      ({ status }) => status === 200 && ledger.results.set(id, result),
      () => undefined,
    )
  }
}

/** Starts many concurrent runs of each kind. Resolves when the server has died and every client has noticed. */
function startAll(ledger: Ledger, conversations: readonly string[]): Promise<unknown> {
  const { live } = served.project
  const run = (body: object, onFrame?: (text: string) => void) =>
    follow(ledger, served.post(`${live}/documents/run`, { path: 'hello', ...body }), onFrame)
  const chat = async (uuid: string, index: number) => {
    const content = `chat ${index}`
    const stream = index % 2 === 0
    const answer = served.post(`/conversations/${uuid}/chat`, { messages: [{ role: 'user', content }], stream })
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
    run({ path: 'tools', stream: true, tools: ['get_weather'] }, answersTools(ledger, index % 2 === 0)),
    chat(conversations[index] ?? '', index),
  ])
  // Broken connections are expected here. All other errors fail the test.
  const quiet = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error
    })
  return Promise.all(callers.flat().map(quiet))
}

/** Opens the database of the stopped server. */
async function query(sql: string): Promise<Record<string, unknown>[]> {
  const database = await openTestDatabase(served.storage)
  try {
    return (await database.session.query(sql)).rows
  } finally {
    await database.close()
  }
}

async function expectRows(ledger: Ledger, killedAt: Date): Promise<void> {
  const rows = await query(
    `SELECT r.status, r.error_code, r.ended_at, r.ended_at IS NULL AS open, r.event_log IS NULL AS unlogged, c.uuid::text AS uuid,
       r.epoch < c.epoch OR c.status = r.status AS same, c.origin, json_array_length(c.messages) AS messages FROM run r JOIN conversation c ON c.uuid = r.conversation_uuid`,
  )
  const calls = await query('SELECT id, state, result FROM tool_call')
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
    const { api, fake, post, project } = served
    fake.setDefault(reply)
    const recorded = Array.from({ length: runsOfEachKind }, async () => {
      const body = { path: 'hello', messages: [{ role: 'user', content: 'Before' }], response: 'Good' }
      return String((await api('POST', `${project.live}/documents/logs`, { body })).body['uuid'])
    })
    const conversations = await Promise.all(recorded)

    const ledger: Ledger = {
      named: new Set(),
      completed: new Set(),
      failed: new Map(),
      chats: new Map(),
      results: new Map(),
    }
    const callers = startAll(ledger, conversations)
    const underWay = () => ({
      named: ledger.named.size >= 3 * runsOfEachKind,
      // Four kinds share the whole answers, and a client does not see the end of a background run.
      completed: ledger.completed.size >= runsOfEachKind / 5,
      chats: ledger.chats.size >= runsOfEachKind / 2,
      results: ledger.results.size >= runsOfEachKind / 4,
    })
    const all = { named: true, completed: true, chats: true, results: true }
    await expect.poll(underWay, { timeout: patienceMs }).toEqual(all)
    const killedAt = new Date()
    await served.kill()
    fake.setDefault({ text: 'After the restart.' })
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
    await expectRows(ledger, killedAt)
    // With one worker, the runs of the next tests wait in the queue.
    await served.start({ STET_WORKERS: '1' })
  },
  2 * patienceMs,
)

it(
  'promise 1: background runs queued at a kill -9 start in order after the restart',
  async () => {
    const { api, fake, project } = served
    const background = async (name: string) => {
      const body = { path: 'hello', background: true, parameters: { name } }
      return String((await api('POST', `${project.live}/documents/run`, { body })).body['uuid'])
    }
    const calls = fake.requests.length
    fake.enqueue({ deltas: ['half ', 'way'], hang: 'mid-stream' })
    const active = await background('0')
    await fake.waitForRequest(calls + 1)
    const names = ['1', '2', '3', '4', '5']
    const queued: string[] = []
    for (const name of names) queued.push(await background(name))
    for (const uuid of queued) {
      expect((await api('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'queued' })
    }
    expect(fake.requests).toHaveLength(calls + 1)

    await served.kill()
    await served.start()

    const attach = (uuid: string) => api('POST', `/conversations/${uuid}/attach`, { body: {} })
    for (const answer of await Promise.all(queued.map(attach))) {
      expect(answer).toMatchObject({ status: 200, body: { response: { text: 'After the restart.' } } })
    }
    for (const uuid of queued) {
      expect((await api('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'completed' })
    }
    expect(await attach(active)).toMatchObject({ status: 422, body: { errorCode: 'worker_lost' } })
    // Each run was sent once, in order. Requests that the kill interrupted were not sent again.
    const asked = fake.requests.slice(calls).map(({ body }) => /Hi (\d)/.exec(JSON.stringify(body['messages']))?.[1])
    expect(asked).toEqual(['0', ...names])
  },
  processTestMs,
)

/** A project with requests that each create, fill and publish a draft of two prompts, as `stet push --publish` does. */
async function publishedProject(api: Api) {
  const { id, live } = await createTestProject(api, { first: '1' })
  const versions = `/projects/${id}/versions`
  const requests = Array.from({ length: publications }, (_, place) => {
    const changes = ['left', 'right'].map((side) => ({
      path: `${side}/${place}`,
      status: 'added',
      content: `${place}`,
    }))
    return {
      name: `publication-${place}`,
      path: versions,
      body: { name: `publication-${place}`, changes, publish: {} },
    }
  })
  const acknowledged = (answers: ReadonlyMap<string, ApiAnswer>): string[] =>
    requests.map(({ name }) => name).filter((name) => answers.get(name)?.status === 200)
  /** Expects that each request did everything or nothing. Returns the names of those that published. */
  const expectWhole = async (answers: ReadonlyMap<string, ApiAnswer>): Promise<string[]> => {
    const list = async (path: string) => (await api<{ title: string; path: string }[]>('GET', path)).body
    expect(await list(`${versions}?status=draft`)).toEqual([])
    const names = (await list(`${versions}?status=merged`))
      .map(({ title }) => title)
      .filter((one) => one !== 'Initial version')
    const paths = (await list(`${live}/documents`)).map(({ path }) => path).filter((path) => path !== 'first')
    const places = names.map((name) => name.replace('publication-', ''))
    expect(paths.sort()).toEqual(places.flatMap((place) => [`left/${place}`, `right/${place}`]).sort())
    expect(names).toEqual(expect.arrayContaining(acknowledged(answers)))
    return names
  }
  return { requests, acknowledged, expectWhole }
}

/** A project with rollbacks to the texts before forced edits, which become a new version, and back to the edited ones. */
async function rolledBackProject(api: Api) {
  const { id, live } = await createTestProject(api, { first: '0', second: '0' })
  const [environment, versions] = [`/projects/${id}/environments/live`, `/projects/${id}/versions`]
  const { body: version } = await api('GET', live)
  for (const path of ['first', 'second']) {
    const edit = { path, prompt: 'edited', force: true }
    expect((await api('POST', `${live}/documents/create-or-update`, { body: edit })).status).toBe(200)
  }
  const requests = Array.from({ length: rollbacks }, (_, place) => ({
    ...{ name: `rollback-${place}`, path: `${environment}/rollback` },
    body: { to: `${String(version['uuid'])}@${place % 2 === 0 ? 0 : 2}`, reason: `rollback-${place}` },
  }))
  /** Without a release, live served the target already. */
  const acknowledged = (answers: ReadonlyMap<string, ApiAnswer>): string[] =>
    requests.map(({ name }) => name).filter((name) => answers.get(name)?.body['release'])
  /** Expects that pointer, texts, versions and releases agree. Returns the reasons of the releases. */
  const expectWhole = async (answers: ReadonlyMap<string, ApiAnswer>): Promise<string[]> => {
    const { body } = await api('GET', `${environment}/releases?limit=100`)
    const releases = body['items'] as { kind: string; reason: string; version: { uuid: string } }[]
    const made = releases.filter(({ kind }) => kind === 'rollback')
    const served = releases[0]?.version.uuid
    expect((await api('GET', live)).body['uuid']).toBe(served)
    const merged = (await api<{ uuid: string }[]>('GET', `${versions}?status=merged`)).body
    const released = new Set([...made.map((each) => each.version.uuid), String(version['uuid'])])
    expect(merged.map(({ uuid }) => uuid).sort()).toEqual([...released].sort())
    const texts = (await api<{ content: string }[]>('GET', `${live}/documents`)).body
    const text = served === version['uuid'] ? 'edited' : '0'
    expect(texts.map(({ content }) => content)).toEqual([text, text])
    const reasons = made.map(({ reason }) => reason)
    expect(new Set(reasons).size).toBe(reasons.length)
    expect(reasons).toEqual(expect.arrayContaining(acknowledged(answers)))
    return reasons
  }
  return { requests, acknowledged, expectWhole }
}

// Some requests are killed before they are stored, some during their work, some between commit and response.
it(
  "promise 15: after kill -9 between request and response, a repeated request returns the first request's work",
  async () => {
    const { api, fake, project } = served
    const { live, id: projectId } = project
    const names = (kind: string) => Array.from({ length: keysOfEachKind }, (_, place) => `${kind}-${place}.`)
    const draft = await project.newDraft()
    const released = await publishedProject(api)
    const rolledBack = await rolledBackProject(api)
    const bodies = { json: {}, stream: { stream: true }, background: { background: true } }
    const requests = [
      ...released.requests,
      ...rolledBack.requests,
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
    const calls = fake.requests.length
    fake.setDefault({ deltas: ['slow ', 'answer'], delayMs: 400 })
    const sent = requests.map((request) =>
      send(request).then(
        (answer) => void answers.set(request.name, answer),
        () => undefined,
      ),
    )
    await fake.waitForRequest(calls + keysOfEachKind)
    const isUnderWay = () => answers.size > keysOfEachKind && released.acknowledged(answers).length >= publications / 4
    await expect.poll(isUnderWay, { timeout: 90_000, interval: 5 }).toBe(true)
    await served.kill()
    await Promise.all(sent)
    fake.setDefault({ text: 'After the restart.' })

    await served.start()
    await released.expectWhole(answers)
    await rolledBack.expectWhole(answers)
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
      answers.set(request.name, again)
    }
    // Each repeated request published once, so all publications are live.
    expect((await released.expectWhole(answers)).sort()).toEqual(released.requests.map(({ name }) => name).sort())
    const reasons = await rolledBack.expectWhole(answers)
    expect(reasons.sort()).toEqual(rolledBack.acknowledged(answers).sort())
    expect(reasons.length).toBeGreaterThan(1)
    for (const name of names('background')) await api('POST', `/conversations/${String(uuids.get(name))}/attach`)

    for (const name of [...names('json'), ...names('stream'), ...names('background')]) {
      const calls = fake.requests.filter(({ body }) => JSON.stringify(body['messages']).includes(`Hi ${name}`))
      // There is no call for a run that was stored but lost before its provider call.
      expect(calls.length, name).toBeLessThanOrEqual(1)
    }
    const versions = (await api<{ title: string }[]>('GET', `/projects/${projectId}/versions`)).body
    const keys = (await api<{ name: string }[]>('GET', '/api-keys')).body
    for (const name of names('version')) expect(versions.filter(({ title }) => title === name)).toHaveLength(1)
    for (const name of names('key')) expect(keys.filter((each) => each.name === name)).toHaveLength(1)
  },
  timeFor(6 * keysOfEachKind, 4_000),
)

it(
  'finishes a deletion after kill -9 and a restart, without partial results',
  async () => {
    const { api } = served
    // Not the project of the other tests: before a release it has 12,000 runs, and each batch of their purge costs a
    // restart.
    const project = await createTestProject(api, { hello: prompt('<user>Hi</user>') })
    const uuids: string[] = []
    for (let count = 0; count < 30; count += 1) {
      const body = { path: 'hello', messages: [], customIdentifier: 'customer' }
      uuids.push(String((await api('POST', `${project.live}/documents/logs`, { body })).body['uuid']))
    }
    const [first = '', ...others] = uuids
    // The server is killed after each deletion request, while earlier ones are being purged.
    expect((await api('DELETE', `/conversations/${first}`)).status).toBe(200)
    const erased = api('DELETE', '/conversations?customIdentifier=customer').catch(() => undefined)
    await Promise.race([erased, new Promise((resolve) => setImmediate(resolve))])
    await served.kill()
    const answer = await erased
    await served.start()
    expect((await api('DELETE', `/conversations/${first}`)).status).toBe(404)
    const state = async (uuid: string) => (await api('GET', `/conversations/${uuid}`)).status
    expect(await state(first)).toBe(404)
    const states = new Set(await Promise.all(others.map(state)))
    // The deletion is atomic: a received request is finished, and a request that never arrived changed nothing.
    expect(states.size).toBe(1)
    if (answer) expect([...states]).toEqual([404])

    expect((await api('DELETE', `/projects/${project.id}`, { body: { name: 'scenario' } })).status).toBe(200)
    await served.kill()
    await served.start()
    expect((await api('GET', `/projects/${project.id}/versions`)).status).toBe(404)
    for (const uuid of others) expect(await state(uuid)).toBe(404)
    const rows = [
      `SELECT 1 FROM conversation WHERE project_id = ${project.id}`,
      `SELECT 1 FROM run r LEFT JOIN conversation c ON c.uuid = r.conversation_uuid WHERE c.uuid IS NULL`,
      `SELECT 1 FROM log_entry l LEFT JOIN conversation c ON c.uuid = l.conversation_uuid WHERE c.uuid IS NULL`,
      `SELECT 1 FROM document WHERE project_id = ${project.id}`,
      `SELECT 1 FROM erasure`,
    ]
    const counts = rows.map((each) => `(SELECT count(*) FROM (${each}) each)`).join(' + ')
    for (let left = 1; left > 0; ) {
      await served.stop()
      left = Number((await query(`SELECT (${counts})::int AS count`))[0]?.['count'])
      if (left > 0) await served.start()
    }
  },
  processTestMs,
)
