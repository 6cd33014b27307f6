/** Calls every method like a user of the published clients does. Only the import differs. */
import { Adapters, Latitude, LatitudeApiError, LogSources, MessageRole } from '@stet/sdk/latitude'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientBench, openClientBench } from './matrix/client-bench.ts'

const greet = '---\nprovider: OpenAI\nmodel: gpt-4o\n---\nBe brief.\n<user>Say hello to {{ name }}.</user>\n'
const judge =
  '---\nprovider: OpenAI\nmodel: gpt-4o\nschema: { type: object, properties: { score: { type: number } } }\n---\n<user>Judge.</user>\n'

const weather =
  '---\nprovider: OpenAI\nmodel: gpt-4o\ntools:\n  - get_weather: { description: Weather, parameters: { type: object } }\n---\n<user>Weather?</user>\n'

let bench: ClientBench
let latitude: Latitude
let gateway: { host: string; port: number; ssl: boolean }

beforeAll(async () => {
  bench = await openClientBench({}, { greet, judge, weather })
  const { hostname, port } = new URL(bench.server.url)
  gateway = { host: hostname, port: Number(port), ssl: false }
  latitude = new Latitude(bench.server.adminKey, { projectId: 1, __internal: { gateway, source: LogSources.API } })
}, 60_000)
afterAll(() => bench?.close())

const said = (text: string) => ({ role: MessageRole.user, content: [{ type: 'text' as const, text }] })

async function newDraft(): Promise<string> {
  const { uuid } = await latitude.versions.create('draft', { projectId: 1 })
  return uuid
}

describe('prompts', () => {
  it('lists prompts and gets one by path', async () => {
    const prompt = await latitude.prompts.get('greet')
    expect(prompt).toMatchObject({
      path: 'greet',
      content: greet,
      provider: 'openai',
      parameters: { name: { type: 'text' } },
    })
    const all = await latitude.prompts.getAll({ projectId: 1, versionUuid: 'live' })
    expect(all.map(({ path }) => path)).toEqual(['greet', 'judge', 'weather'])
  })

  it('creates, updates and deletes prompts in a draft', async () => {
    const versionUuid = await newDraft()
    const created = await latitude.prompts.create('new/one', { versionUuid, prompt: 'Hello.' })
    expect(created).toMatchObject({ path: 'new/one', content: 'Hello.', versionUuid })
    const again = await latitude.prompts.getOrCreate('new/one', { versionUuid, prompt: 'Other.' })
    expect(again).toMatchObject({ uuid: created.uuid, content: 'Hello.' })
    expect(await latitude.prompts.createOrUpdate('new/one', { versionUuid, prompt: 'Second.' })).toMatchObject({
      content: 'Second.',
    })
    expect(await latitude.prompts.delete('new/one', { versionUuid })).toMatchObject({ path: 'new/one' })
    await expect(latitude.prompts.get('new/one', { versionUuid })).rejects.toMatchObject({ status: 404 })
  })
})

describe('run', () => {
  it.each([{ stream: true }, { stream: false }, {}])('returns the final result with %j', async (options) => {
    bench.provider.enqueue({ deltas: ['Hello ', 'Ana.'] })
    const result = await latitude.prompts.run('greet', {
      ...options,
      parameters: { name: 'Ana' },
      customIdentifier: 'u-1',
    })
    expect(result?.response).toMatchObject({
      text: 'Hello Ana.',
      streamType: 'text',
      usage: { totalTokens: expect.any(Number) },
    })
    expect(result?.conversation).toHaveLength(3)
    expect(await bench.server.client.conversations.get(result?.uuid ?? '')).toMatchObject({ customIdentifier: 'u-1' })
  })

  it('streams every event and calls onFinished', async () => {
    bench.provider.enqueue({ deltas: ['Hel', 'lo.'] })
    const types: string[] = []
    const ids: string[] = []
    let text = ''
    let finished: string | undefined
    const result = await latitude.prompts.run('greet', {
      parameters: { name: 'Leo' },
      stream: true,
      onEvent: ({ event, data, id, type }) => {
        expect(type).toBe(data.type)
        ids.push(id)
        if (event === 'latitude-event') types.push(data.type)
        if (event === 'provider-event' && data.type === 'text-delta') text += data.textDelta
      },
      onFinished: (data) => {
        finished = data.uuid
      },
      onError: (error) => {
        throw error
      },
    })
    expect(types.join()).toBe(
      'chain-started,step-started,provider-started,provider-completed,step-completed,chain-completed',
    )
    expect([text, finished]).toEqual(['Hello.', result?.uuid])
    expect(ids).toEqual(ids.map((_, at) => String(at + 1)))
  })

  it('returns a typed object', async () => {
    bench.provider.enqueue({ object: { score: 4 } })
    const result = await latitude.prompts.run<{ score: number }>('judge', { stream: true })
    expect(result?.response.object.score).toBe(4)
  })

  it('runs in the background, attaches and stops', async () => {
    bench.provider.enqueue({ text: 'Later.' })
    const { uuid } = await latitude.prompts.run('greet', { background: true as const, parameters: { name: 'Bo' } })
    const result = await latitude.runs.attach(uuid, { stream: true })
    expect(result.response.text).toBe('Later.')
    expect(await latitude.runs.stop(uuid)).toMatchObject({ uuid, stopped: false })
  })

  it('fails with 402 and the reason, through onError or a rejection', async () => {
    const refusal = { status: 401, body: { error: { message: 'no such key' } } }
    bench.provider.enqueue(refusal, refusal)
    const errors: LatitudeApiError[] = []
    const onError = (error: LatitudeApiError) => void errors.push(error)
    expect(await latitude.prompts.run('greet', { stream: true, onError })).toBeUndefined()
    expect(errors).toMatchObject([{ status: 402, errorCode: 'ai_run_error', message: expect.stringContaining('401') }])
    await expect(latitude.prompts.run('greet', { stream: true })).rejects.toBeInstanceOf(LatitudeApiError)
    await expect(latitude.prompts.run('nowhere')).rejects.toMatchObject({ status: 404, errorCode: 'NotFoundError' })
  })
})

describe('tools', () => {
  const rome = { id: 'a', name: 'get_weather', arguments: { city: 'Rome' } }

  it.each([{ stream: true }, { stream: false }])(
    'calls handlers with the argument names of both major versions, %j',
    async (o) => {
      bench.provider.enqueue({ toolCalls: [rome] }, { text: 'Sunny.' })
      const asked: unknown[] = []
      const result = await latitude.prompts.run<'text', { get_weather: { city: string } }>('weather', {
        ...o,
        tools: {
          get_weather: async ({ city }, { id, name, arguments: args, toolId, toolName, conversationUuid }) => {
            asked.push([city, id === toolId, name, toolName, args, conversationUuid])
            return { sky: 'blue' }
          },
        },
      })
      expect(result?.response.text).toBe('Sunny.')
      expect(asked).toEqual([['Rome', true, 'get_weather', 'get_weather', { city: 'Rome' }, result?.uuid]])
      const sent = bench.provider.requests.at(-1)?.body['messages'] as { role: string; content: string }[]
      expect(sent.find(({ role }) => role === 'tool')?.content).toBe('{"sky":"blue"}')
    },
  )
})

it('continues a conversation by chat', async () => {
  bench.provider.enqueue({ text: 'Hello.' }, { text: 'And again.' }, { text: 'Goodbye.' })
  const first = await latitude.prompts.run('greet', { parameters: { name: 'Ana' }, stream: true })
  const uuid = first?.uuid ?? ''
  const second = await latitude.prompts.chat(uuid, [said('Again')], { stream: true })
  const third = await latitude.prompts.chat(uuid, [said('Bye')], { stream: false })
  expect([second?.response.text, third?.response.text, third?.conversation.length]).toEqual([
    'And again.',
    'Goodbye.',
    7,
  ])
})

it('renders the same messages as the server', async () => {
  const prompt = await latitude.prompts.get('greet')
  const { config, messages } = await latitude.prompts.render({
    prompt,
    parameters: { name: 'Ana' },
    adapter: Adapters.openai,
  })
  expect(config).toMatchObject({ model: 'gpt-4o' })
  expect(messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Say hello to Ana.' }] },
  ])
  bench.provider.enqueue({ text: 'Hi.' })
  const run = await latitude.prompts.run('greet', { parameters: { name: 'Ana' } })
  const own = await latitude.prompts.render({ prompt, parameters: { name: 'Ana' }, adapter: Adapters.default })
  expect(own.messages).toEqual(run?.response.input)
})

it('renders chains with the model answers of the caller', async () => {
  const asked: number[] = []
  const { messages } = await latitude.prompts.renderChain<{ role: string; content: unknown }>({
    prompt: { path: 'chain', content: '<step as="a">One</step>Two {{ a }}' },
    parameters: {},
    adapter: Adapters.openai,
    onStep: async ({ messages }) => {
      asked.push(messages.length)
      return `after ${messages.length}`
    },
  })
  expect(asked).toEqual([1, 3])
  expect(messages[2]).toEqual({ role: 'system', content: 'Two after 1' })
})

it('records logs and annotates conversations for the version from the constructor', async () => {
  const log = await latitude.logs.create('greet', [said('Hello')], { response: 'Hi!' })
  const { uuid } = await bench.server.client.evaluations.create({ name: 'Helpful', metric: 'rating' })
  const scored = await latitude.evaluations.annotate(log.uuid, 4, uuid, { reason: 'friendly' })
  expect(scored).toMatchObject({ score: 4, metadata: { reason: 'friendly' }, hasPassed: true })
  const versionUuid = await newDraft()
  const ofDraft = new Latitude(bench.server.adminKey, { projectId: 1, versionUuid, __internal: { gateway } })
  expect(await ofDraft.evaluations.annotate(log.uuid, 2, uuid)).toMatchObject({ versionUuid, metadata: {} })
})

it('manages versions and projects', async () => {
  const live = await latitude.versions.get(1, 'live')
  const draft = await newDraft()
  expect((await latitude.versions.getAll(1)).map(({ uuid }) => uuid)).toEqual(
    expect.arrayContaining([live.uuid, draft]),
  )
  expect((await latitude.versions.getAll()).length).toBeGreaterThanOrEqual(2)
  const pushed = await latitude.versions.push(1, draft, [
    { path: 'pushed', content: 'x', status: 'added', contentHash: 'any' },
  ])
  expect(pushed.commitUuid).toBe(draft)
  const { project, version } = await latitude.projects.create('from the old client')
  expect(version).toMatchObject({ projectId: project.id, status: 'draft' })
  expect((await latitude.projects.getAll()).map(({ id }) => id)).toContain(project.id)
})
