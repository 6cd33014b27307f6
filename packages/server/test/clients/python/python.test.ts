/**
 * The published Python client 5.10's exact requests and response handling. The client itself cannot run here. `render`
 * and `render_chain` make no request and are not covered.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClientBench, prompts, sentDuring, userMessage } from '../matrix/client-bench.ts'
import { clientMatrix } from '../matrix/client-matrix.ts'
import { AttachErrorBody, ErrorBody } from '../matrix/wire.ts'
import { pythonClient } from './python-client.ts'
import { sdkVersion } from './python-http.ts'
import type { ReadyPython } from './ready.ts'
import { chatTests, runTests } from './runs.ts'
import { toolTests } from './tools.ts'
import { parserTests, repeatTests, silenceTests } from './transport.ts'

let opened: ReadyPython
const ready = () => opened

beforeAll(async () => {
  const bench = await openClientBench()
  opened = { bench, client: pythonClient({ port: bench.front.port, key: bench.key, delay: 0.001 }) }
})
afterAll(() => opened?.bench.close())

const matrix = clientMatrix('python', {
  client: 'Python SDK (latitude-sdk)',
  version: '5.10',
  as: 'its requests, headers, retries, stream parser and models, rebuilt in the suite; render and render_chain send no request',
})

const unknownUuid = '00000000-0000-4000-8000-000000000000'
const notFound = { status: 404, code: 'NotFoundError' }

matrix.method('projects.get_all', () => {
  test('every project', async () => {
    expect(await ready().client.projects.get_all()).toContainEqual(expect.objectContaining({ id: 1, name: 'default' }))
  })
})
matrix.method('projects.create', () => {
  test('a project with its first draft', async () => {
    const { project, version } = await ready().client.projects.create('from Python')
    expect(project.name).toBe('from Python')
    expect(version).toMatchObject({ projectId: project.id, status: 'draft' })
  })
})
matrix.method('versions.get_all', () => {
  test('every version', async () => {
    const { client, bench } = ready()
    const draft = await bench.newDraft()
    const versions = await client.versions.get_all()
    expect(versions.map(({ uuid }) => uuid)).toEqual(expect.arrayContaining([draft, bench.liveUuid]))
  })

  test('an unknown project is raised', async () => {
    await expect(ready().client.versions.get_all(999_999)).rejects.toMatchObject(notFound)
  })
})
matrix.method('prompts.get', () => {
  test('its text, parameters and provider', async () => {
    expect(await ready().client.prompts.get('folder/triage')).toMatchObject({
      path: 'folder/triage',
      content: prompts['folder/triage'],
      provider: 'openai',
    })
    expect((await ready().client.prompts.get('greet')).parameters).toEqual({ name: { type: 'text' } })
  })

  test('declared types beyond text, image and file read as text', async () => {
    const { client, bench } = ready()
    const version_uuid = await bench.newDraft()
    const kinds = ['text', 'image', 'file', 'number', 'boolean', 'object', 'array', 'invented']
    const declared = kinds.map((type) => `  ${type}_value: { type: ${type} }\n`).join('')
    const text = `---\nparameters:\n${declared}---\n{{ free }}`
    const { parameters } = await client.prompts.get_or_create('typed', { version_uuid, prompt: text })
    expect(Object.entries(parameters).map(([name, { type }]) => [name, type])).toEqual(
      expect.arrayContaining([
        ['text_value', 'text'],
        ['image_value', 'image'],
        ['file_value', 'file'],
        ...['number', 'boolean', 'object', 'array', 'invented'].map((kind) => [`${kind}_value`, 'text']),
        ['free', 'text'],
      ]),
    )
  })

  test('a provider that is not known here is left out', async () => {
    const { client, bench } = ready()
    const version_uuid = await bench.newDraft()
    const prompt = '---\nprovider: Somebody\nmodel: m\n---\nHi'
    const { provider, config } = await client.prompts.get_or_create('foreign', { version_uuid, prompt })
    expect({ provider, config }).toEqual({ provider: undefined, config: { provider: 'Somebody', model: 'm' } })
  })

  test('a leading slash and a space in the path', async () => {
    const { client, bench } = ready()
    expect((await client.prompts.get('/greet')).path).toBe('greet')
    const { lines } = await sentDuring(bench, () => client.prompts.get('no such').catch(() => undefined))
    expect(lines).toEqual(['GET /api/v3/projects/1/versions/live/documents/no%20such'])
  })

  test('an unknown prompt is raised with its reason', async () => {
    await expect(ready().client.prompts.get('nowhere')).rejects.toMatchObject({
      ...notFound,
      message: 'Document not found at path: nowhere',
    })
  })
})
matrix.method('prompts.get_all', () => {
  test('every prompt of a version', async () => {
    const all = await ready().client.prompts.get_all()
    expect(all.map(({ path }) => path)).toEqual(Object.keys(prompts).sort())
  })
})
matrix.method('prompts.get_or_create', () => {
  test('creates what is missing, and answers what is there unchanged', async () => {
    const { client, bench } = ready()
    const version_uuid = await bench.newDraft()
    const created = await client.prompts.get_or_create('new/one', { version_uuid, prompt: 'Grüße\r\n' })
    expect(created.content).toBe('Grüße\r\n')
    expect(await client.prompts.get_or_create('new/one', { version_uuid, prompt: 'Other' })).toEqual(created)
  })

  test('on the live version a missing prompt is raised', async () => {
    await expect(ready().client.prompts.get_or_create('made/live')).rejects.toMatchObject({
      status: 400,
      code: 'BadRequestError',
    })
  })
})
matrix.method('prompts.delete', () => {
  test('deletes in a draft', async () => {
    const { client, bench } = ready()
    const version_uuid = await bench.newDraft()
    expect(await client.prompts.delete('folder/triage', { version_uuid })).toMatchObject({ path: 'folder/triage' })
    await expect(client.prompts.get('folder/triage', { version_uuid })).rejects.toMatchObject(notFound)
    expect((await client.prompts.get('folder/triage')).path).toBe('folder/triage')
  })

  test('on the live version it is raised', async () => {
    await expect(ready().client.prompts.delete('greet')).rejects.toMatchObject({ status: 400, code: 'BadRequestError' })
  })
})
matrix.method(
  'prompts.run',
  () => runTests(ready),
  'Background runs need `stream=False`. Otherwise the client cannot read their JSON.',
)
matrix.method('prompts.chat', () => chatTests(ready))
matrix.method('runs.attach', () => {
  test('a background run, as a stream and as JSON', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ deltas: ['Lat', 'er.'] })
    const started = await client.prompts.run('greet', { background: true, stream: false })
    const uuid = started?.uuid ?? ''
    const events: unknown[] = []
    const streamed = await client.runs.attach(uuid, { on_event: (event) => void events.push(event) })
    expect(streamed).toMatchObject({ uuid, response: { text: 'Later.' } })
    expect(events.at(-1)).toMatchObject({ type: 'chain-completed' })
    expect(await client.runs.attach(uuid, { stream: false })).toMatchObject({ uuid, response: { text: 'Later.' } })
  })

  test('a run that failed, and an unknown one, are raised', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ status: 401 })
    const { uuid } = (await client.prompts.run('once', { background: true, stream: false })) ?? { uuid: '' }
    await expect(client.runs.attach(uuid)).rejects.toMatchObject({ status: 400, code: 'ai_run_error' })
    await expect(client.runs.attach(uuid, { stream: false })).rejects.toMatchObject({
      status: 422,
      code: 'ai_run_error',
    })
    for (const stream of [true, false]) {
      await expect(client.runs.attach(unknownUuid, { stream })).rejects.toMatchObject(notFound)
    }
    const answer = await fetch(`${bench.server.url}/api/v3/conversations/${unknownUuid}/attach`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.key}` },
    })
    AttachErrorBody.parse(await answer.json())
  })
})
matrix.method('runs.stop', () => {
  test('a POST without a body, but with the content type of JSON', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'never whole', hang: 'mid-stream' })
    const called = bench.provider.waitForRequest(bench.provider.requests.length + 1)
    const { uuid } = (await client.prompts.run('greet', { background: true, stream: false })) ?? { uuid: '' }
    await called
    const { sent } = await sentDuring(bench, () => client.runs.stop(uuid))
    expect(sent).toMatchObject([{ text: '', headers: { 'content-type': 'application/json', 'content-length': '0' } }])
    expect(await bench.server.client.conversations.get(uuid)).toMatchObject({ status: 'stopped' })
    await client.runs.stop(uuid)
  })

  test('an unknown run is raised', async () => {
    await expect(ready().client.runs.stop(unknownUuid)).rejects.toMatchObject(notFound)
  })
})
matrix.method('logs.create', () => {
  test('an execution made elsewhere', async () => {
    const { client } = ready()
    const log = await client.logs.create('greet', [userMessage('Hello')], { response: 'Hi!' })
    expect(log).toMatchObject({ source: 'api', parameters: {}, duration: null })
  })

  test('without a response', async () => {
    const { client, bench } = ready()
    const { answer, sent } = await sentDuring(bench, () => client.logs.create('greet', [userMessage('Hello')]))
    expect(Object.keys(sent[0]?.body ?? {})).toEqual(['path', 'messages', '__internal'])
    expect(answer.source).toBe('api')
  })
})
matrix.method('evaluations.annotate', () => {
  test('a whole score with a reason, never with a version', async () => {
    const { client, bench } = ready()
    const [log, evaluation] = [await bench.newLog(), await bench.newEvaluation()]
    const { answer, sent } = await sentDuring(bench, () =>
      client.evaluations.annotate(log, 4, evaluation, { reason: 'friendly' }),
    )
    expect(sent[0]?.body).toEqual({ score: 4, metadata: { reason: 'friendly' }, __internal: { source: 'api' } })
    expect(answer).toMatchObject({ score: 4, normalizedScore: 75, hasPassed: true, versionUuid: bench.liveUuid })
  })

  test('a score out of range is raised', async () => {
    const { client, bench } = ready()
    const call = client.evaluations.annotate(await bench.newLog(), 6, await bench.newEvaluation())
    await expect(call).rejects.toMatchObject({ status: 422, code: 'UnprocessableEntityError' })
  })
})
matrix.behaviour('tools', () => toolTests(ready))
matrix.behaviour(
  'retries',
  () => repeatTests(ready),
  'The client retries on 408, 429, 500, 502, 503 and 504, up to three attempts, and sends no idempotency key. After it has started the work, the server sends none of these, except 500 for an unexpected error.',
)
matrix.behaviour('a model that pauses for a long time', () => silenceTests(ready))
matrix.behaviour('event stream parsing', () => parserTests(ready))
matrix.behaviour('request format', () => {
  test('every error body is whole', async () => {
    const { bench } = ready()
    const refused = await Promise.all([
      fetch(`${bench.server.url}/api/v3/nowhere`, { headers: { authorization: `Bearer ${bench.key}` } }),
      fetch(`${bench.server.url}/api/v3/projects`),
      fetch(`${bench.server.url}/api/v3/projects`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${bench.key}` },
      }),
      fetch(`${bench.server.url}/api/v3/projects`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' },
        body: '{"name":',
      }),
    ])
    expect(refused.map(({ status }) => status)).toEqual([404, 401, 405, 400])
    for (const answer of refused) ErrorBody.parse(await answer.json())
  })

  test('headers, of every request of this suite', () => {
    const { bench } = ready()
    expect(bench.front.requests.length).toBeGreaterThan(50)
    for (const { headers, body } of bench.front.requests) {
      expect(headers).toMatchObject({
        'x-latitude-sdk-version': sdkVersion,
        'content-type': 'application/json',
        accept: body?.['stream'] === true ? 'text/event-stream' : 'application/json',
      })
    }
  })

  test('JSON with spaces and nothing beyond ASCII is read like any other', async () => {
    const { bench, client } = ready()
    const { answer, sent } = await sentDuring(bench, () => client.projects.create('ñ, 日本 \u{1f600}'))
    expect(sent[0]?.text).toBe('{"name": "\\u00f1, \\u65e5\\u672c \\ud83d\\ude00", "__internal": {"source": "api"}}')
    expect(answer.project.name).toBe('ñ, 日本 \u{1f600}')
  })
})

const published = [
  ...['evaluations.annotate', 'logs.create', 'projects.create', 'projects.get_all', 'prompts.chat', 'prompts.delete'],
  ...['prompts.get', 'prompts.get_all', 'prompts.get_or_create', 'prompts.run', 'runs.attach', 'runs.stop'],
  'versions.get_all',
]

matrix.close(() => published)
