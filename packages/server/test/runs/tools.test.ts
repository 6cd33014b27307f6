import type { CannedResult, Example, RunResult, SavedRuns } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { queueItem } from '../../src/features/runs/queue/queue-run.ts'
import { prepareRun } from '../../src/features/runs/start-run.ts'
import { RunError } from '../../src/shared/app-error.ts'
import { issueKey, openTenant } from '../http/scenario.ts'
import { caller, prompt, type Recording, type RunBench, record, sharedBench, userMessage } from './run-bench.ts'

const unknownCall = 'call_000000000000000000000000'
const weather = 'tools:\n  get_weather: { description: Weather, parameters: { type: object } }\n  ask: {}\n'

let bench: RunBench
beforeAll(async () => {
  bench = await sharedBench({
    weather: prompt('<user>Weather?</user>', weather),
    short: prompt('<user>Weather?</user>', `maxSteps: 1\n${weather}`),
  })
})
afterAll(() => bench.close())
beforeEach(() => {
  bench.server.deps.runs.settings.toolWaitMs = 300_000
})

const rome = { id: 'a', name: 'get_weather', arguments: { city: 'Rome' } }
const oslo = { id: 'b', name: 'get_weather', arguments: { city: 'Oslo' } }
const question = { id: 'c', name: 'ask', arguments: {} }

const post = (body: Record<string, unknown>, key?: string) =>
  bench.api('POST', '/tools/results', { body, ...(key !== undefined && { key }) })

interface LiveRun {
  recording: Promise<Recording>
  /** Waits until this many calls are shown, and returns their ids. */
  calls(count: number): Promise<string[]>
  shown(text: string): Promise<void>
}

async function live(body: Record<string, unknown>): Promise<LiveRun> {
  return follow(await bench.open('weather', body))
}

function follow(response: Response): LiveRun {
  const [own, other] = (response.body ?? new ReadableStream()).tee()
  let text = ''
  let wake = () => {}
  const read = async () => {
    for await (const chunk of other.pipeThrough(new TextDecoderStream())) {
      text += chunk
      wake()
    }
  }
  read().catch(() => wake())
  const until = async (isThere: () => boolean) => {
    while (!isThere()) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const ids = () => [...text.matchAll(/"type":"tool-call","toolCallId":"(\w+)"/g)].map(([, id]) => `${id}`)
  return {
    recording: record(new Response(own, { status: response.status, headers: response.headers })),
    calls: (count) => until(() => ids().length >= count).then(ids),
    shown: (wanted) => until(() => text.includes(wanted)),
  }
}

const shownTypes = (recording: Recording) => recording.types.filter((type) => !type.includes('delta'))
const results = (recording: Recording) =>
  recording.events
    .filter(({ data }) => ['tool-result', 'tool-error'].includes(String(data['type'])))
    .map(({ data }) => data)
const sentToModel = (place: number) => bench.fake.requests[place]?.body['messages'] as Record<string, unknown>[]

it('waits for a named tool while the stream is open, event by event', async () => {
  const before = bench.fake.requests.length
  bench.fake.enqueue({ toolCalls: [rome] }, { text: 'Sunny.' })
  const run = await live({ tools: ['get_weather', 'never_declared'] })
  const [id] = await run.calls(1)
  expect(await post({ toolCallId: id, result: { sky: 'blue', b: [1], a: null } })).toMatchObject({
    status: 200,
    body: { success: true },
  })
  const recording = await run.recording
  expect(recording.types).toEqual([
    'chain-started',
    'step-started',
    'provider-started',
    '·start-step',
    '·tool-input-start',
    '·tool-input-delta',
    '·tool-input-delta',
    '·tool-call',
    '·finish-step',
    '·tool-result',
    '·start-step',
    '·text-delta',
    '·finish-step',
    '·finish',
    'provider-completed',
    'step-completed',
    'chain-completed',
  ])
  const reference = { toolCallId: id, toolName: 'get_weather', args: { city: 'Rome' } }
  const result = { sky: 'blue', b: [1], a: null }
  expect(results(recording)).toEqual([{ type: 'tool-result', ...reference, result, isError: false }])
  const { uuid } = recording.last
  const called = { role: 'assistant', content: [{ type: 'tool-call', ...reference }] }
  const answered = { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: 'get_weather', result }] }
  const answer = { role: 'assistant', content: [{ type: 'text', text: 'Sunny.' }] }
  const messages = [userMessage('Weather?'), called, answered, answer]
  expect(recording.last).toMatchObject({ messages, toolRequests: [], toolCalls: [], finishReason: 'stop' })
  expect(recording.last['tokenUsage']).toMatchObject({ totalTokens: 40 })
  expect((await bench.conversation(uuid))['conversation']).toEqual(messages)
  // The model gets the value as JSON, with the keys in the caller's order.
  expect(sentToModel(before + 1).at(-1)).toMatchObject({ role: 'tool', content: JSON.stringify(result) })
})

it('shows all tool calls of one model call first, accepts results in any order, and then continues with the model', async () => {
  const before = bench.fake.requests.length
  bench.fake.enqueue({ toolCalls: [rome, oslo] }, { text: 'Both.' })
  const run = await live({ tools: ['get_weather'] })
  const [first, second] = await run.calls(2)
  await post({ toolCallId: second, result: 'snow' })
  // The run reads a result after its sender got a response, so two concurrent results may appear in either order.
  await run.shown('"result":"snow"')
  await post({ toolCallId: first, result: 'no such place', isError: true })
  const recording = await run.recording
  expect(shownTypes(recording).slice(3, 12)).toEqual([
    '·start-step',
    '·tool-input-start',
    '·tool-input-start',
    '·tool-call',
    '·tool-call',
    '·finish-step',
    '·tool-result',
    '·tool-result',
    '·start-step',
  ])
  expect(results(recording)).toMatchObject([
    { toolCallId: second, result: 'snow', isError: false },
    { toolCallId: first, result: 'no such place', isError: true },
  ])
  expect(bench.fake.requests).toHaveLength(before + 2)
  const toolMessage = (recording.last['messages'] as { role: string; content: { toolCallId: string }[] }[])[2]
  expect(toolMessage?.content.map(({ toolCallId }) => toolCallId)).toEqual([first, second])
})

it('uses the first result and accepts but ignores later ones, even after the run', async () => {
  bench.fake.enqueue({ toolCalls: [rome, oslo] }, { text: 'Done.' })
  const run = await live({ tools: ['get_weather'] })
  const [id, other] = await run.calls(2)
  const answers = await Promise.all(['a', 'b', 'c'].map((result) => post({ toolCallId: id, result })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const stored = await bench.server.deps.runs.toolCalls.findAnswer(1, String(id))
  expect(await post({ toolCallId: id, result: 'late' })).toMatchObject({ status: 200, body: { success: true } })
  await run.shown('"type":"tool-result"')
  await post({ toolCallId: other })
  const recording = await run.recording
  expect(results(recording)).toMatchObject([{ result: stored?.result }, { result: null }])
  expect(await post({ toolCallId: id, result: 'after the end' })).toMatchObject({ status: 200 })
  expect(await bench.server.deps.runs.toolCalls.findAnswer(1, String(id))).toEqual(stored)
})

it('returns 404 for the id of an unknown tool call or one of another workspace', async () => {
  bench.fake.enqueue({ toolCalls: [rome] }, { text: 'Done.' })
  const run = await live({ tools: ['get_weather'] })
  const [id] = await run.calls(1)
  const foreign = await openTenant(bench.server, 'foreign')
  const restricted = await issueKey(bench.api, { projectId: 1, scopes: ['run'] })
  for (const answer of [
    await post({ toolCallId: unknownCall, result: 1 }),
    await post({ toolCallId: id, result: 'not yours' }, foreign),
    await post({ toolCallId: id, result: 'not your project' }, restricted),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { reason: 'unissued-tool-call' } })
  }
  await post({ toolCallId: id, result: 'mine' })
  expect(results(await run.recording)).toMatchObject([{ result: 'mine' }])
})

it('gives a call without a result an error at the timeout, and the model continues', async () => {
  bench.server.deps.runs.settings.toolWaitMs = 150
  const before = bench.fake.requests.length
  bench.fake.enqueue({ toolCalls: [rome] }, { text: 'I do not know.' })
  const recording = await bench.stream('weather', { tools: ['get_weather'] })
  const [error] = results(recording)
  expect(error).toMatchObject({
    type: 'tool-error',
    error: 'No result came within 0.15 seconds',
    args: { city: 'Rome' },
  })
  expect(recording.last).toMatchObject({ type: 'chain-completed', response: { text: 'I do not know.' } })
  expect(sentToModel(before + 1).at(-1)).toMatchObject({ content: 'No result came within 0.15 seconds' })
  expect(await post({ toolCallId: error?.['toolCallId'], result: 'too late' })).toMatchObject({ status: 200 })
  expect(await bench.server.deps.runs.toolCalls.findAnswer(1, String(error?.['toolCallId']))).toBeNull()
})

it('waits for the named calls of a model call, then ends the run with the unnamed ones', async () => {
  bench.fake.enqueue({ toolCalls: [question, rome] })
  const run = await live({ tools: ['get_weather'] })
  const [asked, id] = await run.calls(2)
  await post({ toolCallId: id, result: 'sun' })
  const recording = await run.recording
  const request = { id: asked, name: 'ask', arguments: {} }
  expect(recording.last).toMatchObject({ type: 'chain-completed', finishReason: 'tool-calls', toolRequests: [request] })
  expect(recording.types.slice(-4)).toEqual([
    'provider-completed',
    'step-completed',
    'tools-requested',
    'chain-completed',
  ])
  expect(results(recording)).toMatchObject([{ toolCallId: id, result: 'sun' }])
  // A requested tool call is answered with a chat, so this result is ignored.
  expect(await post({ toolCallId: asked, result: 1 })).toMatchObject({ status: 200 })
  bench.fake.enqueue({ text: 'Fine.' })
  const part = { type: 'tool-result', toolCallId: asked, toolName: 'ask', result: 'yes' }
  const chat = await bench.chat(recording.last['uuid'], { messages: [{ role: 'tool', content: [part] }] })
  expect(chat).toMatchObject({ status: 200, body: { response: { text: 'Fine.' } } })
})

it('ignores the tool names in a JSON run and ends it with the tool requests', async () => {
  bench.fake.enqueue({ toolCalls: [rome] })
  const { status, body } = await bench.run('weather', { tools: ['get_weather'] })
  expect(status).toBe(200)
  expect(body['toolRequests']).toMatchObject([{ name: 'get_weather', arguments: { city: 'Rome' } }])
})

it('waits in a chat as in a run', async () => {
  bench.fake.enqueue({ text: 'Hello.' })
  const first = await bench.run('weather')
  bench.fake.enqueue({ toolCalls: [rome] }, { text: 'Sunny.' })
  const body = { messages: [{ role: 'user', content: 'Rome?' }], stream: true, tools: ['get_weather'] }
  const run = follow(await bench.post(`/conversations/${String(first.body['uuid'])}/chat`, body))
  const [id] = await run.calls(1)
  await post({ toolCallId: id, result: 'sun' })
  expect((await run.recording).last).toMatchObject({ type: 'chain-completed', response: { text: 'Sunny.' } })
})

it('ends the run with the documented error if the last allowed model call requests tools', async () => {
  bench.fake.enqueue({ toolCalls: [rome] })
  const recording = await bench.stream('short', { tools: ['get_weather'] })
  expect(recording.last).toMatchObject({
    type: 'chain-error',
    error: { code: 'max_step_count_exceeded_error', details: { maxSteps: 1 } },
  })
  bench.fake.enqueue({ toolCalls: [rome] })
  expect((await bench.stream('short')).last).toMatchObject({ type: 'chain-completed', finishReason: 'tool-calls' })
})

it('keeps the results so far if a run ends while it waits', async () => {
  bench.fake.enqueue({ toolCalls: [rome, oslo] })
  const run = await live({ tools: ['get_weather'] })
  const [first, second] = await run.calls(2)
  await post({ toolCallId: first, result: 'sun' })
  await run.shown('"type":"tool-result"')
  const [active] = bench.server.deps.runs.active.list()
  active?.abort(new RunError('abort_error', 'Stopped', { details: { reason: 'stop' } }))
  const recording = await run.recording
  expect(recording.last).toMatchObject({ type: 'chain-error', error: { code: 'abort_error' } })
  expect(await post({ toolCallId: second, result: 'late' })).toMatchObject({ status: 200 })
  const { conversation } = await bench.conversation(recording.last['uuid'])
  expect((conversation as { role: string }[]).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
})

it("drops a tool result after its run's retention time, but keeps the call", async () => {
  const { toolCalls } = bench.server.deps.runs
  bench.fake.enqueue({ toolCalls: [rome] }, { text: 'Sunny' })
  const run = await live({ tools: ['get_weather'] })
  const [id = ''] = await run.calls(1)
  expect((await post({ toolCallId: id, result: 'kept for a time' })).status).toBe(200)
  const { last } = await run.recording
  const conversation = await bench.server.deps.runs.store.findConversation(1, String(last['uuid']))
  const endedAt = conversation?.latestRun?.endedAt ?? new Date(0)
  const later = new Date(endedAt.getTime() + 1)
  await toolCalls.dropAnswers(new Date(0), endedAt)
  expect(await toolCalls.findAnswer(1, id)).toMatchObject({ result: 'kept for a time' })
  expect(await toolCalls.dropAnswers(endedAt, later)).toBe(1)
  expect(await toolCalls.dropAnswers(endedAt, later)).toBe(0)
  expect(await toolCalls.findAnswer(1, id)).toMatchObject({ result: null })
  expect((await post({ toolCallId: id, result: 'too late' })).body).toEqual({ success: true })
  expect(JSON.stringify(await bench.conversation(last['uuid']))).toContain('kept for a time')
})

/** Runs the prompt as an item of an experiment does. */
async function runCanned(canned: Record<string, CannedResult[]>) {
  const { deps } = bench.server
  const projectId = Number(/\/projects\/(\d+)/.exec(bench.live)?.[1])
  const input = { caller, projectId, versionRef: 'live', path: 'weather', parameters: {}, messages: [], tools: ['ask'] }
  const item = await prepareRun(deps, input, 'background')
  expect(await queueItem(deps, { ...item, prompt: { ...item.prompt, canned } })).toBe('queued')
  return (await bench.attach(item.conversation.uuid)).body as unknown as RunResult
}

it('answers calls from canned results, which reach the model as they are', async () => {
  const before = bench.fake.requests.length
  bench.fake.enqueue({ toolCalls: [rome, oslo] }, { toolCalls: [question] }, { text: 'Sunny.' })
  const sky = { z: 'blue "é"\n', a: [1.5, null] }
  const canned = {
    get_weather: [{ args: { city: 'Oslo' }, result: sky }, { result: 'rain' }],
    ask: [{ result: 0, isError: true }],
  }
  expect(await runCanned(canned)).toMatchObject({ response: { text: 'Sunny.' }, toolRequests: [] })
  const contents = (sentToModel(before + 2) ?? []).filter(({ role }) => role === 'tool').map(({ content }) => content)
  expect(contents).toEqual(['rain', JSON.stringify(sky), expect.stringContaining('0')])
})

it('ends with open requests at a call without a canned result, also of a tool that the run could wait for', async () => {
  bench.fake.enqueue({ toolCalls: [rome, question] })
  const { toolRequests } = await runCanned({ get_weather: [{ result: 'rain' }] })
  expect(toolRequests).toMatchObject([{ name: 'ask' }])
})

const saveRuns = async (body: Record<string, unknown>) => {
  const project = bench.live.replace(/\/versions.*/, '')
  const answer = await bench.api('POST', `${project}/examples/from-runs`, { body })
  expect(answer.status, answer.text).toBe(200)
  const { added, skipped } = answer.body as unknown as SavedRuns
  const rows: Example[] = []
  for (const { documentUuid, uuid } of added) {
    const { body: listed } = await bench.api('GET', `${project}/examples?documentUuid=${documentUuid}`)
    rows.push(...(listed as unknown as Example[]).filter((row) => row.uuid === uuid))
  }
  return { rows, skipped }
}

const runOf = async (conversationUuid: unknown) =>
  String((await bench.api('GET', `/runs/${String(conversationUuid)}`)).body['uuid'])

it('is saved as an example with the inputs and the results that the run received', async () => {
  bench.fake.enqueue({ toolCalls: [rome] }, { text: 'Sunny.' })
  const given = [userMessage('In Rome?')]
  const run = await live({ tools: ['get_weather'], parameters: { unit: 'C', a: null }, messages: given })
  const [id] = await run.calls(1)
  await post({ toolCallId: id, result: { sky: 'blue' } })
  const { headers } = await run.recording
  const conversationUuid = headers.get('x-conversation-uuid')
  const uuid = await runOf(conversationUuid)
  bench.fake.enqueue({ text: 'And warm.' })
  const chat = await bench.chat(String(conversationUuid), { messages: [{ role: 'user', content: 'More' }] })
  expect(chat.status).toBe(200)
  const chatUuid = await runOf(conversationUuid)
  const unknown = '00000000-0000-4000-8000-000000000000'
  const { rows, skipped } = await saveRuns({ runs: [uuid, chatUuid, unknown, uuid.toUpperCase()], expected: 'answer' })
  expect(rows).toMatchObject([
    {
      name: `run ${uuid.slice(0, 8)}`,
      ...{ parameters: { unit: 'C', a: null }, messages: given, expected: 'Sunny.', sourceRunUuid: uuid },
      toolResults: { get_weather: [{ args: { city: 'Rome' }, result: { sky: 'blue' } }] },
    },
  ])
  expect(skipped).toEqual([
    { uuid: chatUuid, reason: 'no-parameters' },
    { uuid: unknown, reason: 'unknown-run' },
  ])
  expect((await saveRuns({ runs: [uuid] })).skipped).toEqual([{ uuid, reason: 'already-saved' }])
  bench.fake.enqueue({ text: 'Rain.' })
  const { body } = await bench.run('weather', {})
  expect((await saveRuns({ runs: [await runOf(body['uuid'])] })).rows).toMatchObject([{ expected: null, messages: [] }])
})

it('leaves no example behind if the conversations of an identifier are erased', async () => {
  bench.fake.enqueue({ text: 'Rain.' }, { text: 'Rain.' })
  const erased = await bench.run('weather', { customIdentifier: 'ada' })
  const deleted = await bench.run('weather', {})
  const [one, other] = [await runOf(erased.body['uuid']), await runOf(deleted.body['uuid'])]
  const { rows } = await saveRuns({ runs: [one, other] })
  expect(rows).toHaveLength(2)
  expect((await bench.api('DELETE', '/conversations?customIdentifier=ada')).body).toEqual({ deleted: 1, active: 0 })
  await bench.api('DELETE', `/conversations/${String(deleted.body['uuid'])}`)
  const project = bench.live.replace(/\/versions.*/, '')
  const { body } = await bench.api('GET', `${project}/examples?documentUuid=${rows[0]?.documentUuid}&summary=true`)
  const left = (body as unknown as Example[]).map(({ sourceRunUuid }) => sourceRunUuid)
  expect(left).toContain(other)
  expect(left).not.toContain(one)
  expect((await saveRuns({ runs: [one] })).skipped).toEqual([{ uuid: one, reason: 'unknown-run' }])
})
