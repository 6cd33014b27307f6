import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type Recording, type RunBench, sharedBench, userMessage } from './run-bench.ts'

const agents = (...paths: string[]) => `agents: [${paths.join(', ')}]\n`

let bench: RunBench
beforeAll(async () => {
  bench = await sharedBench({
    'team/lead': prompt('<user>Plan {{ goal }}</user>', agents('research', './writer', '/tools/count.promptl')),
    'team/research': prompt(
      '<user>Look up {{ topic }} in {{ language }}, {{ depth }} deep</user>',
      'name: look_up\ndescription: Looks things up.\ntype: agent\nparameters:\n  depth: { type: integer, description: How deep }\n',
    ),
    'team/writer': prompt('<step as="draft"><user>Draft</user></step><user>Polish {{ draft }}</user>'),
    'tools/count': prompt('<user>Count</user>', 'schema: { type: object, properties: { n: { type: integer } } }\n'),
    'needs-client': prompt('<user>Hi</user>', 'tools: { ask: { description: Asks } }\n'),
    asking: prompt('<user>Go</user>', agents('needs-client')),
    itself: prompt('<user>Go</user>', agents('itself')),
    round: prompt('<user>Go</user>', agents('trip')),
    trip: prompt('<user>Go</user>', agents('round')),
    ...Object.fromEntries(
      Array.from({ length: 7 }, (_, level) => [
        `level-${level}`,
        prompt('<user>Go</user>', agents(`level-${level + 1}`)),
      ]),
    ),
    'level-7': prompt('<user>Go</user>'),
    nowhere: prompt('<user>Go</user>', agents('../outside')),
    clash: prompt('<user>Go</user>', `tools: { look_up: {} }\n${agents('team/research')}`),
    endless: prompt('<user>Go</user>', `maxSteps: 150\n${agents('loop')}`),
    loop: prompt('<user>Go</user>', 'maxSteps: 150\n'),
    elsewhere: prompt('<user>Go</user>', agents('plain')),
    plain: '<user>Go</user>',
    misnamed: prompt('<user>Go</user>', agents('named')),
    named: prompt('<user>Go</user>', 'name: my agent!\n'),
  })
})
afterAll(() => bench.close())

const ofType = (recording: Recording, ...types: string[]) =>
  recording.events.filter(({ data }) => types.includes(String(data['type']))).map(({ data }) => data)
const requestSince = (before: number, place: number) =>
  bench.fake.requests[before + place]?.body as Record<string, unknown>
const call = (name: string, args: Record<string, unknown> = {}) => ({ toolCalls: [{ id: 'x', name, arguments: args }] })

it('offers other prompts as tools and runs them; only the call and its result are shown', async () => {
  const before = bench.fake.requests.length
  bench.fake.enqueue(
    call('look_up', { topic: 'bees', language: 'English', depth: 2 }),
    { text: 'Bees fly.' },
    { text: 'Plan.' },
  )
  const recording = await bench.stream('team/lead', { parameters: { goal: 'honey' }, tools: ['look_up'] })
  const [shown] = ofType(recording, 'tool-call')
  const args = { topic: 'bees', language: 'English', depth: 2 }
  expect(shown).toMatchObject({ toolName: 'look_up', args, _sourceData: { source: 'agentAsTool' } })
  expect(ofType(recording, 'tool-result')).toEqual([
    {
      type: 'tool-result',
      toolCallId: shown?.['toolCallId'],
      toolName: 'look_up',
      args,
      result: { value: 'Bees fly.', isError: false },
      isError: false,
    },
  ])
  expect(ofType(recording, 'text-delta').map(({ textDelta }) => textDelta)).toEqual(['Plan.'])
  expect(recording.last).toMatchObject({
    type: 'chain-completed',
    toolRequests: [],
    toolCalls: [],
    response: { text: 'Plan.' },
  })
  // Three model calls, one of them by the agent. The run's totals include all three, and so does its response without
  // steps.
  expect(recording.last['tokenUsage']).toMatchObject({ totalTokens: 60 })
  expect(recording.last).toMatchObject({ cost: 0.00033, response: { cost: 0.00033, usage: { totalTokens: 60 } } })

  expect(requestSince(before, 0)['tools']).toMatchObject([
    {
      function: {
        name: 'look_up',
        description: 'Looks things up.',
        parameters: {
          type: 'object',
          properties: {
            topic: { type: 'string' },
            language: { type: 'string' },
            depth: { type: 'integer', description: 'How deep' },
          },
        },
      },
    },
    { function: { name: 'lat_agent_team_writer' } },
    { function: { name: 'lat_agent_tools_count' } },
  ])
  const [{ function: offered }] = requestSince(before, 0)['tools'] as [
    { function: { parameters: { required: string[] } } },
  ]
  expect([...offered.parameters.required].sort()).toEqual(['depth', 'language', 'topic'])
  expect(JSON.stringify(requestSince(before, 1)['messages'])).toContain('Look up bees in English, 2 deep')
  expect((requestSince(before, 2)['messages'] as unknown[]).at(-1)).toMatchObject({
    role: 'tool',
    content: '{"value":"Bees fly.","isError":false}',
  })
})

it('runs a chain as an agent, returns an object if it has a schema, and runs several agents concurrently', async () => {
  const before = bench.fake.requests.length
  const byPrompt = ({ body }: { body: Record<string, unknown> }) => {
    const last = JSON.stringify((body['messages'] as unknown[]).at(-1))
    if (last.includes('Count')) return { object: { n: 3 } }
    if (last.includes('Draft')) return { text: 'draft' }
    if (last.includes('Polish')) return { text: last.includes('Polish draft') ? 'polished' : 'wrong' }
    return { text: 'All done.' }
  }
  const both = ['lat_agent_team_writer', 'lat_agent_tools_count'].map((name, index) => ({
    id: `${index}`,
    name,
    arguments: {},
  }))
  bench.fake.enqueue({ toolCalls: both })
  bench.fake.enqueue(byPrompt, byPrompt, byPrompt, byPrompt)
  const { body } = await bench.run('team/lead', { parameters: { goal: 'x' } })
  expect(body).toMatchObject({ response: { text: 'All done.' }, toolRequests: [] })
  const results = JSON.stringify((requestSince(before, 4)['messages'] as unknown[]).slice(-2))
  expect(results).toContain(JSON.stringify(JSON.stringify({ value: 'polished', isError: false })))
  expect(results).toContain(JSON.stringify(JSON.stringify({ value: { n: 3 }, isError: false })))
})

it("returns an error result for a failed agent; the run continues and includes the agent's cost", async () => {
  const name = 'lat_agent_tools_count'
  bench.fake.enqueue(call(name), { text: 'no JSON' }, { text: 'Then without.' })
  const recording = await bench.stream('team/lead', { parameters: { goal: 'x' } })
  expect(ofType(recording, 'tool-result')).toMatchObject([
    { toolName: name, isError: true, result: { isError: true, value: expect.stringContaining('does not parse') } },
  ])
  expect(recording.last).toMatchObject({ type: 'chain-completed', response: { text: 'Then without.' } })
  expect(recording.last['tokenUsage']).toMatchObject({ totalTokens: 60 })

  bench.fake.enqueue(call('look_up', { topic: 'x', language: 'y', depth: 'deep' }), { text: 'Sorry.' })
  const wrong = await bench.stream('team/lead', { parameters: { goal: 'x' } })
  expect(ofType(wrong, 'tool-result')).toMatchObject([
    { isError: true, result: { value: expect.stringContaining('depth') } },
  ])
})

it('returns an error result for an agent with client tools', async () => {
  bench.fake.enqueue(call('lat_agent_needs-client'), { text: 'Without, then.' })
  const recording = await bench.stream('asking', { tools: ['ask'] })
  expect(ofType(recording, 'tool-result')).toMatchObject([
    { isError: true, result: { value: expect.stringContaining("'ask'") } },
  ])
  expect(recording.last).toMatchObject({ type: 'chain-completed' })
})

it.each([
  ['itself', 'itself -> itself'],
  ['nowhere', "no prompt '../outside'"],
  ['clash', "'look_up'"],
  ['misnamed', 'named: The name of a prompt'],
])('%s: refuses a configuration that cannot work before the model call', async (path, message) => {
  const before = bench.fake.requests.length
  const { last, types } = await bench.stream(path)
  expect(types).toEqual(['chain-started', 'chain-error'])
  expect(last['error']).toMatchObject({ code: 'document_config_error', message: expect.stringContaining(message) })
  expect(bench.fake.requests).toHaveLength(before)
})

it('returns an error result for a cycle of agents', async () => {
  bench.fake.enqueue(call('lat_agent_trip'), { text: 'Stopped.' })
  const recording = await bench.stream('round')
  expect(ofType(recording, 'tool-result')).toMatchObject([
    { isError: true, result: { value: expect.stringContaining('round -> trip -> round') } },
  ])
})

it('nests agents at most five levels deep', async () => {
  bench.fake.enqueue(...[1, 2, 3, 4, 5].map((level) => call(`lat_agent_level-${level}`)))
  bench.fake.setDefault({ text: 'Back.' })
  const before = bench.fake.requests.length
  const { last } = await bench.stream('level-0')
  bench.fake.setDefault({ text: 'Hello from the fake provider.' })
  expect(last).toMatchObject({ type: 'chain-completed', response: { text: 'Back.' } })
  // The fifth agent offers a sixth one, which is refused without a model call.
  expect(bench.fake.requests).toHaveLength(before + 10)
  expect(JSON.stringify(requestSince(before, 5)['messages'])).toContain('nested 5 deep')
})

it("counts agents' model calls toward the run's limit", async () => {
  bench.fake.enqueue(...Array.from({ length: 75 }, () => [call('lat_agent_loop'), { text: 'again' }]).flat())
  const before = bench.fake.requests.length
  const { last } = await bench.stream('endless')
  bench.fake.setDefault({ text: 'Hello from the fake provider.' })
  expect(last).toMatchObject({
    type: 'chain-error',
    error: { code: 'max_step_count_exceeded_error', details: { maxSteps: 150 } },
    tokenUsage: { totalTokens: 150 * 20 },
  })
  expect(bench.fake.requests).toHaveLength(before + 150)
})

it("uses the project's defaults for an agent without provider and model, even in a chat", async () => {
  const id = bench.live.split('/')[2]
  const defaults = { defaultProvider: 'demo', defaultModel: 'any' }
  await bench.api('PUT', `/projects/${id}`, { body: defaults })
  bench.fake.enqueue(call('lat_agent_plain'), { text: 'Done' }, call('lat_agent_plain'), { text: 'Again' })
  const run = await bench.stream('elsewhere')
  const chat = await bench.streamChat(run.last['uuid'], { messages: [userMessage('Again')] })
  await bench.api('PUT', `/projects/${id}`, { body: { defaultProvider: '', defaultModel: '' } })
  for (const recording of [run, chat]) {
    const value = expect.stringContaining('the demo provider')
    expect(ofType(recording, 'tool-result')).toMatchObject([{ result: { value, isError: false } }])
  }
})
