/** The published client 5.1.0, unchanged, with only its environment variables set (docs: compatibility of the clients). */
import type { Latitude as LatitudeClient } from 'latitude-sdk-5'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { type TestServer, testServer } from '../support/test-server.ts'

const prompt = '---\nprovider: OpenAI\nmodel: gpt-4o\n---\nBe brief.\n<user>Say hello to {{ name }}.</user>\n'

let server: TestServer
let provider: FakeProvider
let Latitude: typeof LatitudeClient
let client: LatitudeClient
let draftUuid: string

beforeAll(async () => {
  provider = await fakeProvider()
  server = await testServer({ environment: { OPENAI_API_KEY: 'sk-fake-provider-key', OPENAI_BASE_URL: provider.url } })
  const address = new URL(server.url)
  // The client reads these when it is imported, and takes any text in GATEWAY_SSL for "yes".
  process.env['GATEWAY_HOSTNAME'] = address.hostname
  process.env['GATEWAY_PORT'] = address.port
  process.env['GATEWAY_SSL'] = ''
  ;({ Latitude } = await import('latitude-sdk-5'))
  client = new Latitude(server.adminKey, { projectId: 1 })
  const draft = await client.versions.create('from the published client', { projectId: 1 })
  draftUuid = draft.uuid
  await client.versions.push(1, draftUuid, [{ path: 'greet', content: prompt, status: 'added' }])
  await server.client.versions.publish(draftUuid)
}, 60_000)

afterAll(async () => {
  await server?.close()
  await provider?.close()
})

test('lists and gets prompts of the live version', async () => {
  const all = await client.prompts.getAll()
  expect(all.map(({ path }) => path)).toEqual(['greet'])
  const one = await client.prompts.get('greet')
  expect(one).toMatchObject({
    path: 'greet',
    content: prompt,
    config: { provider: 'OpenAI', model: 'gpt-4o' },
    provider: 'openai',
  })
  expect(one.parameters).toEqual({ name: { type: 'text' } })
})

test('a leading slash of a path, which it sends twice, is no other prompt', async () => {
  expect((await client.prompts.get('/greet')).path).toBe('greet')
})

test('an unknown prompt rejects with the documented error', async () => {
  await expect(client.prompts.get('nowhere')).rejects.toMatchObject({ status: 404, errorCode: 'NotFoundError' })
})

test('creates, gets or creates, and pushes in a draft', async () => {
  const { uuid } = await client.versions.create('second', { projectId: 1 })
  const created = await client.prompts.create('new/one', { projectId: 1, versionUuid: uuid, prompt: 'Hello.' })
  expect(created).toMatchObject({ path: 'new/one', content: 'Hello.', versionUuid: uuid })
  const again = await client.prompts.getOrCreate('new/one', { projectId: 1, versionUuid: uuid, prompt: 'Other.' })
  expect(again).toMatchObject({ uuid: created.uuid, content: 'Hello.' })
  const pushed = await client.versions.push(1, uuid, [
    { path: 'new/one', content: '', status: 'deleted' },
    { path: 'new/two', content: 'Two.', status: 'added', contentHash: 'ignored' },
  ])
  expect(pushed.commitUuid).toBe(uuid)
  const paths = (await client.prompts.getAll({ projectId: 1, versionUuid: uuid })).map(({ path }) => path)
  expect(paths).toEqual(['greet', 'new/two'])
})

test('versions and projects', async () => {
  expect(await client.versions.get(1, 'live')).toMatchObject({
    uuid: draftUuid,
    projectId: 1,
    title: 'from the published client',
  })
  expect((await client.versions.getAll(1)).map(({ uuid }) => uuid)).toContain(draftUuid)
  const { project, version } = await client.projects.create('second project')
  expect(version).toMatchObject({ projectId: project.id, status: 'draft' })
  expect((await client.projects.getAll()).map(({ id }) => id)).toContain(project.id)
})

test('runs as JSON and chats', async () => {
  provider.enqueue({ text: 'Hello Ana.' })
  const result = await client.prompts.run('greet', { projectId: 1, parameters: { name: 'Ana' }, stream: false })
  expect(result?.response.text).toBe('Hello Ana.')
  provider.enqueue({ text: 'Goodbye.' })
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'And now?' }] }] as Parameters<
    LatitudeClient['prompts']['chat']
  >[1]
  const chat = await client.prompts.chat(result?.uuid ?? '', messages, { stream: false })
  expect(chat?.response.text).toBe('Goodbye.')
  expect(chat?.conversation).toHaveLength(5)
})

test('runs and chats as streams, with every event delivered', async () => {
  provider.enqueue({ deltas: ['Hel', 'lo ', 'Leo.'] })
  const types: string[] = []
  const text: string[] = []
  let finished: { uuid: string } | undefined
  const result = await client.prompts.run('greet', {
    projectId: 1,
    parameters: { name: 'Leo' },
    stream: true,
    onEvent: ({ event, data }) => {
      const payload = data as { type: string; textDelta?: string }
      if (event === 'latitude-event') types.push(payload.type)
      if (payload.type === 'text-delta') text.push(payload.textDelta ?? '')
    },
    onFinished: (data) => {
      finished = data
    },
  })
  expect(types).toEqual([
    'chain-started',
    'step-started',
    'provider-started',
    'provider-completed',
    'step-completed',
    'chain-completed',
  ])
  expect(text.join('')).toBe('Hello Leo.')
  expect(result?.response.text).toBe('Hello Leo.')
  expect(finished?.uuid).toBe(result?.uuid)
  provider.enqueue({ deltas: ['Bye.'] })
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Bye?' }] }] as Parameters<
    LatitudeClient['prompts']['chat']
  >[1]
  const chat = await client.prompts.chat(result?.uuid ?? '', messages, { stream: true })
  expect(chat?.response.text).toBe('Bye.')
})

test('a run that fails at the provider surfaces the reason, in JSON and in a stream', async () => {
  provider.enqueue({ status: 401, body: { error: { message: 'no such key' } } })
  await expect(
    client.prompts.run('greet', { projectId: 1, parameters: { name: 'X' }, stream: false }),
  ).rejects.toMatchObject({
    status: 422,
    errorCode: 'ai_run_error',
  })
  provider.enqueue({ status: 401, body: { error: { message: 'no such key' } } })
  const reasons: string[] = []
  const result = await client.prompts.run('greet', {
    projectId: 1,
    parameters: { name: 'X' },
    stream: true,
    onError: (error) => reasons.push(error.message),
  })
  expect(result).toBeUndefined()
  expect(reasons.join()).toContain('401')
})

test('annotates a conversation, for the version that its constructor names', async () => {
  const log = await server.client.logs.create('greet', [{ role: 'user', content: 'Hello' }], { response: 'Hi!' })
  const { uuid } = await server.client.evaluations.create({ name: 'Helpful', metric: 'rating' })
  const first = await client.evaluations.annotate(log.uuid, 4, uuid, { reason: 'friendly' })
  expect(first).toMatchObject({ score: 4, normalizedScore: 75, metadata: { reason: 'friendly' }, hasPassed: true })
  const ofDraft = new Latitude(server.adminKey, { projectId: 1, versionUuid: draftUuid })
  const second = await ofDraft.evaluations.annotate(log.uuid, 2, uuid)
  expect(second).toMatchObject({ score: 2, metadata: {}, versionUuid: draftUuid })
  await expect(client.evaluations.annotate(log.uuid, 6, uuid)).rejects.toMatchObject({
    status: 422,
    errorCode: 'UnprocessableEntityError',
  })
})

test('records a log', async () => {
  const messages = [{ role: 'user', content: 'Hello' }] as unknown as Parameters<typeof client.logs.create>[1]
  const log = await client.logs.create('greet', messages, { response: 'Hi!' })
  expect(log).toMatchObject({ uuid: expect.stringMatching(/^[0-9a-f-]{36}$/), commitId: expect.any(Number) })
  expect((await server.client.conversations.get(log.uuid)).conversation).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Hi!' }] },
  ])
})
