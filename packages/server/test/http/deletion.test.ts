import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectOk, experimentProject } from '../experiments/experiment-bench.ts'
import { prompt, type RunBench, record, runBench } from '../runs/run-bench.ts'
import { tablesHolding } from '../support/stored-text.ts'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, issueKey, type TestProject } from './scenario.ts'

const prompts = {
  hello: prompt('<user>Hi {{ name }}</user>', 'maxRetries: 0\nparameters: { name: { type: text } }\n'),
  tools: prompt('<user>Weather for {{ name }}?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n'),
}

let bench: RunBench
beforeAll(async () => {
  bench = await runBench(prompts)
})
afterAll(() => bench.close())

const marker = () => `person-${randomUUID()}`
const messages = (text: string) => [{ role: 'user', content: text }]
const erase = (identifier: string, more = '') =>
  bench.api('DELETE', `/conversations?customIdentifier=${identifier}${more}`)
const remove = (uuid: string) => bench.api('DELETE', `/conversations/${uuid}`)
const sql = async (text: string, params: unknown[] = []) =>
  (await bench.server.database.session.query(text, params)).rows
const insertOnly = [
  ['release', 'project_id = $1'],
  ['forced_edit', 'version_id IN (SELECT id FROM version WHERE project_id = $1)'],
] as const
const untilPurged = (text: string) => expect.poll(() => tablesHolding(bench.server, text)).toEqual([])

/** Creates a conversation with rows in every table: run, chat, tool call, annotation and stored responses. */
async function richConversation(name: string, more: Record<string, unknown> = {}): Promise<string> {
  const { api, fake, live } = bench
  const key = { 'idempotency-key': `key-${name}` }
  fake.enqueue({ toolCalls: [{ id: 'a', name: 'get_weather', arguments: { who: name } }] })
  const body = { parameters: { name }, customIdentifier: name, ...more }
  const ran = await bench.run('tools', body, key)
  expect(ran.status, ran.text).toBe(200)
  const uuid = String(ran.body['uuid'])
  fake.enqueue({ text: `Sunny, ${name}` })
  expect((await bench.chat(uuid, { messages: messages(`Thanks from ${name}`) }, key)).status).toBe(200)
  const projectId = Number(/\d+/.exec(live)?.[0])
  const evaluation = await api('POST', '/evaluations', { body: { projectId, name: 'all', metric: 'binary' } })
  const annotate = `/conversations/${uuid}/evaluations/${String(evaluation.body['uuid'])}/annotate`
  const annotation = { body: { score: 1, metadata: { reason: name } }, headers: key }
  expect((await api('POST', annotate, annotation)).status).toBe(201)
  const labels = { tags: [`tag ${name}`], note: `note ${name}` }
  expect((await api('PUT', `/conversations/${uuid}`, { body: labels })).status).toBe(200)
  const feedback = { body: { value: 'down', comment: `comment ${name}`, by: `by ${name}` }, headers: key }
  expect((await api('POST', `/conversations/${uuid}/feedback`, feedback)).status).toBe(200)
  return uuid
}

describe('DELETE /conversations/{uuid}', () => {
  it('removes everything of the conversation, from responses and from every table', async () => {
    const name = marker()
    const uuid = await richConversation(name)
    const key = { 'idempotency-key': `key-${name}` }
    expect(await tablesHolding(bench.server, name)).toEqual(
      expect.arrayContaining([
        'annotation',
        'conversation',
        'conversation_tag',
        'event log',
        'idempotency_record',
        'run',
      ]),
    )
    expect((await remove(uuid)).body).toEqual({ uuid })
    const gone: [method: string, path: string, body?: unknown][] = [
      ['GET', ''],
      ['GET', '/annotations'],
      ['POST', '/chat', { messages: messages('x') }],
      ['POST', '/attach', {}],
      ['POST', '/attach', { stream: true }],
      ['POST', '/stop'],
      ['DELETE', ''],
    ]
    for (const [method, path, body] of gone) {
      const answer = await bench.api(method, `/conversations/${uuid}${path}`, { body })
      expect({ path, ...refusalOf(answer) }).toEqual({ path, status: 404, reason: 'unknown-conversation' })
    }
    expect((await bench.api('GET', `/conversations?customIdentifier=${name}`)).body['items']).toEqual([])
    const repeated = () => bench.run('tools', { parameters: { name }, customIdentifier: name }, key)
    expect(refusalOf(await repeated())).toEqual({ status: 404, reason: 'erased' })
    await untilPurged(name)
    await untilPurged(uuid)
    expect(refusalOf(await repeated())).toEqual({ status: 404, reason: 'erased' })
  })

  it('also deletes an external log with its stored response', async () => {
    const name = marker()
    const body = { path: 'hello', messages: messages(name), parameters: { name } }
    const post = () =>
      bench.api('POST', `${bench.live}/documents/logs`, { body, headers: { 'idempotency-key': `log-${name}` } })
    const first = await post()
    expect((await remove(String(first.body['uuid']))).status).toBe(200)
    await untilPurged(name)
    expect(refusalOf(await post())).toEqual({ status: 404, reason: 'erased' })
  })

  it('lets an attached reader read to the end, and returns 404 to the next one', async () => {
    bench.fake.enqueue({ deltas: ['one ', 'two ', 'three'] })
    const uuid = await bench.background('hello')
    await bench.attach(uuid)
    const attached = await bench.post(`/conversations/${uuid}/attach`, { stream: true })
    expect((await remove(uuid)).status).toBe(200)
    expect((await record(attached)).last).toMatchObject({ type: 'chain-completed' })
    expect((await bench.api('POST', `/conversations/${uuid}/attach`, { body: { stream: true } })).status).toBe(404)
  })

  it('lets exactly one of concurrent chats and deletions win, completely', async () => {
    for (let round = 0; round < 10; round += 1) {
      bench.fake.setDefault({ text: 'fine' })
      const uuid = String((await bench.run('hello')).body['uuid'])
      const [chat, deletion, other] = await Promise.all([
        bench.chat(uuid, { messages: messages('again') }),
        remove(uuid),
        remove(uuid),
      ])
      expect([200, 404, 409]).toContain(chat.status)
      const deletions = [deletion.status, other.status].sort()
      if (chat.status === 404) expect(deletions).toEqual([200, 404])
      else for (const status of deletions) expect([200, 404, 409]).toContain(status)
      const isDeleted = deletions.includes(200)
      expect((await bench.api('GET', `/conversations/${uuid}`)).status).toBe(isDeleted ? 404 : 200)
      if (isDeleted) await untilPurged(uuid)
    }
  })

  it('makes later tool results unknown', async () => {
    bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'get_weather', arguments: {} }] })
    const ran = await bench.run('tools', { parameters: { name: 'x' } })
    const [call] = ran.body['toolRequests'] as { id: string }[]
    const result = () => bench.api('POST', '/tools/results', { body: { toolCallId: call?.id, result: 1 } })
    expect((await result()).status).toBe(200)
    expect((await remove(String(ran.body['uuid']))).status).toBe(200)
    expect((await result()).status).toBe(404)
  })
})

describe('DELETE /conversations?customIdentifier=', () => {
  it("deletes only the identifier's ended conversations, and counts its active ones", async () => {
    const name = marker()
    bench.fake.setDefault({ text: 'fine' })
    const own = [await richConversation(name)]
    for (let count = 0; count < 3; count += 1) {
      own.push(String((await bench.run('hello', { customIdentifier: name })).body['uuid']))
    }
    const other = String((await bench.run('hello', { customIdentifier: `${name}-2` })).body['uuid'])
    bench.fake.enqueue({ deltas: ['half'], hang: 'mid-stream' })
    const calls = bench.fake.requests.length
    const active = await bench.background('hello', { customIdentifier: name })
    await bench.fake.waitForRequest(calls + 1)

    expect(await erase(name)).toMatchObject({ status: 200, body: { deleted: 4, active: 1 } })
    for (const uuid of own) expect((await bench.api('GET', `/conversations/${uuid}`)).status).toBe(404)
    for (const uuid of [other, active]) expect((await bench.api('GET', `/conversations/${uuid}`)).status).toBe(200)
    await bench.stop(active)
    expect((await erase(name)).body).toEqual({ deleted: 1, active: 0 })
    expect((await erase(name)).body).toEqual({ deleted: 0, active: 0 })
    for (const uuid of [...own, active]) await untilPurged(uuid)
    expect((await bench.api('GET', `/conversations/${other}`)).status).toBe(200)
    expect(await sql('SELECT * FROM erasure')).toEqual([])
  })

  it("is limited to the query's project and the key's project", async () => {
    const name = marker()
    bench.fake.setDefault({ text: 'fine' })
    const elsewhere = await createTestProject(bench.api, prompts)
    const here = Number(/\d+/.exec(bench.live)?.[0])
    const runIn = (project: Pick<TestProject, 'live'>) =>
      bench.api('POST', `${project.live}/documents/run`, { body: { path: 'hello', customIdentifier: name } })
    for (const project of [elsewhere, elsewhere, elsewhere, { live: bench.live }]) await runIn(project)
    const restricted = apiCaller(bench.server.url, await issueKey(bench.api, { projectId: elsewhere.id }))
    const query = `/conversations?customIdentifier=${name}`
    expect((await restricted('DELETE', `${query}&projectId=${here}`)).status).toBe(404)
    expect((await restricted('DELETE', query)).body).toEqual({ deleted: 3, active: 0 })
    await runIn(elsewhere)
    expect((await erase(name, `&projectId=${here}`)).body).toEqual({ deleted: 1, active: 0 })
    expect((await erase(name)).body).toEqual({ deleted: 1, active: 0 })
  })

  it.each(['', '?customIdentifier=', '?projectId=1', `?customIdentifier=${'x'.repeat(257)}`])(
    'refuses the query %j',
    async (query) => {
      expect((await bench.api('DELETE', `/conversations${query}`)).status).toBe(400)
    },
  )

  it('finishes deletions of an earlier process without touching later conversations', async () => {
    const name = marker()
    bench.fake.setDefault({ text: 'fine' })
    const run = async () => String((await bench.run('hello', { customIdentifier: name })).body['uuid'])
    const [before, after] = [await run(), await run()]
    const { store, work } = bench.server.deps.deletions
    const { createdAt } = await bench.conversation(before)
    await sql("UPDATE conversation SET created_at = created_at + interval '1 hour' WHERE uuid = $1::uuid", [after])
    const request = { workspaceId: 1, projectId: null, customIdentifier: name, createdAt: new Date(String(createdAt)) }
    await store.beginErasure(request)
    work.wake()
    await untilPurged(before)
    await expect.poll(() => sql('SELECT * FROM erasure')).toEqual([])
    expect((await bench.api('GET', `/conversations/${after}`)).status).toBe(200)
  })

  it('also deletes examples of conversations that were purged before, and what an experiment ran from them', async () => {
    bench.fake.setDefault({ text: 'fine' })
    const own = await experimentProject(bench)
    const { projectId } = own
    const ran = async (customIdentifier: string) => {
      const body = { path: 'greet', parameters: { name: 'Ada' }, customIdentifier }
      const uuid = String((await expectOk(bench.api('POST', `${own.live}/documents/run`, { body }))).body['uuid'])
      const run = await expectOk(bench.api('GET', `/runs/${uuid}`))
      const saved = { runs: [run.body['uuid']] }
      await expectOk(bench.api('POST', `/projects/${projectId}/examples/from-runs`, { body: saved }))
      return uuid
    }
    const [name, other] = [marker(), marker()]
    for (const uuid of [await ran(name), await ran(other)]) await expectOk(remove(uuid))
    const vias = async () =>
      (await sql('SELECT via FROM conversation WHERE project_id = $1', [projectId])).map(({ via }) => via)
    await expect.poll(vias).toEqual([])
    const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }] })
    await own.ended(uuid)
    // The experiment runs again until the rows are scored.
    const [first] = await own.rows(uuid)
    const example = `/projects/${projectId}/examples/${first?.exampleUuid}`
    await expectOk(bench.api('PUT', example, { body: { expected: 'Bye' } }))
    expect(await own.ended(uuid)).toMatchObject({ state: 'completed', counts: { ended: 2 } })
    expect((await own.rows(uuid)).map(({ items: [item] }) => item?.scores[0]?.passed)).toEqual([false, null])
    const elsewhere = Number(/\d+/.exec(bench.live)?.[0])
    expect((await expectOk(erase(name, `&projectId=${elsewhere}`))).body).toEqual({ deleted: 0, active: 0 })
    expect((await expectOk(erase(name))).body).toEqual({ deleted: 1, active: 0 })
    await expect.poll(vias).toEqual(['experiment'])
    await untilPurged(name)
    expect((await own.rows(uuid)).map(({ name: shown, parameters }) => [shown, parameters])).toEqual([
      ['erased', null],
      [expect.stringMatching(/^run /), { name: 'Ada' }],
    ])
  })

  it('deletes more conversations than one batch', async () => {
    const name = marker()
    bench.fake.setDefault({ text: 'fine' })
    const uuid = String((await bench.run('hello', { customIdentifier: name })).body['uuid'])
    await sql(
      `INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash,
         custom_identifier, origin, config, status)
       SELECT gen_random_uuid(), workspace_id, project_id, version_uuid, document_uuid, path, content_hash,
         custom_identifier, 'log', config, 'completed' FROM conversation, generate_series(1, 1200) WHERE uuid = $1::uuid`,
      [uuid],
    )
    // The database sets the creation time, and its clock may be ahead of this process.
    await sql('UPDATE conversation SET created_at = $2::timestamptz WHERE custom_identifier = $1', [
      name,
      new Date(Date.now() - 1_000).toISOString(),
    ])
    expect((await erase(name)).body).toEqual({ deleted: 1201, active: 0 })
    await untilPurged(name)
  })
})

describe('DELETE /projects/{id}', () => {
  const deleteProject = (id: number, name = 'scenario') => bench.api('DELETE', `/projects/${id}`, { body: { name } })

  it('removes everything of the project, and its keys stop working', async () => {
    const { api, server, fake } = bench
    const name = marker()
    const project = await createTestProject(api, { ...prompts, secret: `${name} {{ x }}` })
    const key = await issueKey(api, { projectId: project.id, scopes: ['admin'], name })
    const restricted = apiCaller(server.url, key)
    fake.enqueue({ text: name })
    const run = { body: { path: 'hello', customIdentifier: name }, headers: { 'idempotency-key': name } }
    const uuid = String((await restricted('POST', `${project.live}/documents/run`, run)).body['uuid'])
    const body = { projectId: project.id, name, metric: 'binary' }
    const evaluation = String((await api('POST', '/evaluations', { body })).body['uuid'])
    const annotate = `/conversations/${uuid}/evaluations/${evaluation}/annotate`
    expect((await api('POST', annotate, { body: { score: 1 } })).status).toBe(201)
    const { body: secret } = await api('GET', `${project.live}/documents/secret`)
    const example = { documentUuid: secret['uuid'], name, parameters: { x: name } }
    expect((await restricted('POST', `/projects/${project.id}/examples`, { body: example })).status).toBe(201)
    const keyed = { body: { path: 'keyed', prompt: name, force: true }, headers: { 'idempotency-key': `doc-${name}` } }
    const write = () => api('POST', `${project.live}/documents/create-or-update`, keyed)
    expect((await write()).status).toBe(200)
    const rollback = { body: { reason: name } }
    expect((await restricted('POST', `/projects/${project.id}/environments/live/rollback`, rollback)).status).toBe(200)
    expect((await restricted('GET', `${project.live}/documents/secret`)).status).toBe(200)
    // Only the purge of the project may delete these rows.
    for (const [table, filter] of insertOnly) {
      for (const change of [`UPDATE ${table} SET id = id`, `DELETE FROM ${table}`]) {
        await expect(sql(`${change} WHERE ${filter}`, [project.id])).rejects.toThrow(`${table} is insert-only`)
      }
    }

    // A prompt has one path in each set.
    const copy = `INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash, valid_from, valid_to)
      SELECT document_uuid, project_id, version_id, path || '2', content, content_hash, valid_from, valid_to
      FROM document WHERE project_id = $1 AND path = 'hello'`
    await expect(sql(copy, [project.id])).rejects.toThrow('document_project_id_document_uuid_valid_to_key')

    expect(await deleteProject(project.id)).toMatchObject({ status: 200, body: { id: project.id } })
    expect((await restricted('GET', '/me')).status).toBe(401)
    const notFound: [string, string, unknown?][] = [
      ['GET', `/projects/${project.id}/versions`],
      ['GET', `${project.live}/documents/secret`],
      ['POST', `${project.live}/documents/run`, { path: 'hello' }],
      ['GET', `/conversations/${uuid}`],
      ['POST', `/conversations/${uuid}/chat`, { messages: messages('x') }],
      ['POST', `/conversations/${uuid}/attach`, {}],
      ['POST', annotate, { score: 1 }],
      ['GET', `/conversations?projectId=${project.id}`],
      ['GET', `/evaluations/${evaluation}`],
      ['GET', `/projects/${project.id}/examples?documentUuid=${String(secret['uuid'])}`],
      ['POST', `/projects/${project.id}/examples`, example],
      ['PUT', `/projects/${project.id}`, { name: 'back' }],
    ]
    for (const [method, path, sent] of notFound) {
      expect({ path, status: (await api(method, path, { body: sent })).status }).toEqual({ path, status: 404 })
    }
    expect((await write()).status).toBe(404)
    expect((await deleteProject(project.id)).status).toBe(404)
    const listed = (await api<{ id: number }[]>('GET', '/projects')).body
    expect(listed.map(({ id }) => id)).not.toContain(project.id)
    const all = await Promise.all(['/conversations?limit=100', '/evaluations'].map((path) => api('GET', path)))
    for (const { text } of all) expect(text).not.toContain(uuid)
    await untilPurged(name)
    await untilPurged(uuid)
    const { store } = server.deps.deletions
    for (const table of [
      'version',
      'release',
      'run_figure',
      'document',
      'evaluation',
      'example',
      'api_key',
      'conversation',
    ] as const) {
      expect(await sql(`SELECT 1 FROM ${table} WHERE project_id = $1`, [project.id])).toEqual([])
    }
    // The project's row has no text left. It is kept for runs that were starting meanwhile.
    expect(await store.removeProject(project.id)).toBe(false)
    await sql("UPDATE project SET deleted_at = now() - interval '1 hour' WHERE id = $1", [project.id])
    server.deps.deletions.work.wake()
    await expect.poll(() => sql('SELECT 1 FROM project WHERE id = $1', [project.id])).toEqual([])
  })

  it('also removes runs that start during the deletion', async () => {
    const { api, fake, server } = bench
    fake.setDefault({ text: 'fine' })
    for (let round = 0; round < 5; round += 1) {
      const project = await createTestProject(api, prompts)
      const start = (background: boolean) =>
        api('POST', `${project.live}/documents/run`, { body: { path: 'hello', background } })
      const started = [start(true), start(false), start(true)]
      const deletion = await deleteProject(project.id)
      expect([200, 409]).toContain(deletion.status)
      for (const { status } of await Promise.all(started)) expect([200, 404, 422, 500]).toContain(status)
      if (deletion.status === 409) continue
      server.deps.deletions.work.wake()
      await expect
        .poll(async () => {
          server.deps.deletions.work.wake()
          return sql('SELECT status FROM conversation WHERE project_id = $1', [project.id])
        })
        .toEqual([])
    }
  })
})

describe('DELETE of a draft', () => {
  it('can be undone for 30 days, and then its rows are purged', async () => {
    const project = await createTestProject(bench.api)
    const versions = `/projects/${project.id}/versions`
    const deleted = async (days: number) => {
      const changes = ['a', 'b'].map((path) => ({ path, content: `${days}`, status: 'added' }))
      const { body } = await bench.api('POST', versions, { body: { name: `${days} days`, changes } })
      const draft = `${versions}/${String(body['uuid'])}`
      await bench.api('DELETE', draft)
      await sql(`UPDATE version SET deleted_at = now() - $2::int * interval '1 day' WHERE id = $1`, [body['id'], days])
      return { draft, id: body['id'], uuid: body['uuid'] }
    }
    const [kept, gone] = [await deleted(29), await deleted(31)]
    const restorable = await bench.api('GET', `${versions}?deleted=true&status=draft`)
    expect(restorable.body).toMatchObject([{ uuid: kept.uuid }, { uuid: project.draftUuid, deletedAt: null }])
    expect(refusalOf(await bench.api('POST', `${gone.draft}/restore`))).toMatchObject({ reason: 'unknown-version' })
    expect(refusalOf(await bench.api('DELETE', gone.draft))).toMatchObject({ reason: 'unknown-version' })
    bench.server.deps.deletions.work.wake()
    await expect.poll(() => sql('SELECT id FROM version WHERE id = $1', [gone.id])).toEqual([])
    expect(await sql('SELECT id FROM document WHERE version_id = $1', [gone.id])).toEqual([])
    expect((await bench.api('POST', `${kept.draft}/restore`)).body).toMatchObject({ changeCount: 2, deletedAt: null })
  })
})
