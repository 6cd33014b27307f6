/** What the doors beside API v3 ask of a run: settings and tools of the caller, runs by uuid, and conversations that fork. */
import type { Message } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { attachRun } from '../../src/features/conversations/attach-conversation.ts'
import { continueConversation, continueFromRun } from '../../src/features/conversations/continue-conversation.ts'
import { findRunByUuid } from '../../src/features/conversations/find-conversation.ts'
import { stopRun } from '../../src/features/conversations/stop-conversation.ts'
import { numberedVersionRef, resolveVersion } from '../../src/features/documents/version-ref.ts'
import { queueRun } from '../../src/features/runs/queue/queue-run.ts'
import type { CallerSettings } from '../../src/features/runs/run.ts'
import { type StartRunInput, startRun } from '../../src/features/runs/start-run.ts'
import { gate } from '../support/gate.ts'
import { assistantMessage, caller, prompt, type RunBench, runBench, systemMessage, userMessage } from './run-bench.ts'

const tool = (name: string, description = 'given') => ({ name, description, parameters: { type: 'object' } })

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    plain: prompt('<user>Hi</user>'),
    warm: prompt('<user>Hi</user>', 'temperature: 0.2\nmax_tokens: 100\n'),
    stepped: prompt('<step temperature="0.3"><user>One</user></step><step><user>Two</user></step>'),
    tools: prompt(
      '<user>Weather?</user>',
      'tools:\n  - get_weather: { description: own, parameters: { type: object } }\n',
    ),
    chooses: prompt('<user>Hi</user>', 'tool_choice: none\n'),
    shaped: prompt('<user>Hi</user>', 'schema: { type: object, properties: { a: { type: string } } }\n'),
    asks: prompt('<system>Be brief.</system><user>About {{ topic }}: {{ LATITUDE_USER_MESSAGE }}</user>'),
  })
})
afterAll(() => bench.close())
beforeEach(() => bench.fake.clear())

const deps = () => bench.server.deps
const projectId = () => Number(/projects\/(\d+)/.exec(bench.live)?.[1])

function inputFor(path: string, more: Partial<StartRunInput> = {}): StartRunInput {
  return { caller, projectId: projectId(), versionRef: 'live', path, parameters: {}, messages: [], ...more }
}

const settings = (config: CallerSettings['config'], more: Partial<CallerSettings> = {}): CallerSettings => ({
  config,
  tools: [],
  ...more,
})

/** Starts a run, waits for its end and returns what the provider received. */
async function sentBy(path: string, more: Partial<StartRunInput> = {}) {
  const first = bench.fake.requests.length
  const run = await startRun(deps(), { ...inputFor(path, more), mode: 'json' })
  const result = await run.result()
  return { run, result, sent: bench.fake.requests.slice(first).map(({ body }) => body) }
}

it('applies settings of the caller below front matter and attributes of steps, and names the ignored ones', async () => {
  const ignored: string[] = []
  const onIgnored = (keys: readonly string[]) => void ignored.push(...keys)
  const callerSettings = settings({ temperature: 0.9, topP: 0.5, maxTokens: 40 })
  expect((await sentBy('plain', { callerSettings, onIgnored })).sent).toMatchObject([
    { temperature: 0.9, top_p: 0.5, max_tokens: 40 },
  ])
  expect(ignored).toEqual([])
  expect((await sentBy('warm', { callerSettings, onIgnored })).sent).toMatchObject([
    { temperature: 0.2, top_p: 0.5, max_tokens: 40 },
  ])
  expect(ignored).toEqual(['temperature'])
  expect((await sentBy('stepped', { callerSettings })).sent).toMatchObject([{ temperature: 0.3 }, { temperature: 0.9 }])
})

it('applies them to streams, queued runs and one request of a chat, but not to later requests', async () => {
  const callerSettings = settings({ temperature: 0.9 })
  const count = bench.fake.requests.length
  const streamed = await startRun(deps(), { ...inputFor('plain', { callerSettings }), mode: 'stream' })
  await streamed.result()
  const queued = await queueRun(deps(), inputFor('plain', { callerSettings, request: '{"model":"plain"}' }))
  expect((await bench.attach(queued.conversationUuid)).status).toBe(200)
  expect(await deps().runs.store.findRequest(1, queued.runUuid)).toBe('{"model":"plain"}')
  const chat = { caller, conversationUuid: streamed.conversationUuid, messages: [userMessage('More')] }
  await (
    await continueConversation(deps(), { ...chat, mode: 'json', callerSettings: settings({ temperature: 0.1 }) })
  ).result()
  await bench.chat(streamed.conversationUuid, { messages: [userMessage('And more')] })
  expect(bench.fake.requests.slice(count).map(({ body }) => body['temperature'])).toEqual([0.9, 0.9, 0.1, undefined])
})

it('uses a schema of the caller unless the prompt has one', async () => {
  bench.fake.enqueue({ text: '{"b":1}' }, { text: '{"a":"x"}' })
  const callerSettings = settings({ schema: { type: 'object', title: 'given' } })
  const [given, own] = [await sentBy('plain', { callerSettings }), await sentBy('shaped', { callerSettings })]
  expect(given.sent).toMatchObject([{ response_format: { json_schema: { name: 'given' } } }])
  expect(given.result.response).toMatchObject({ streamType: 'object', object: { b: 1 } })
  expect(own.sent).toMatchObject([{ response_format: { json_schema: { name: 'answer' } } }])
})

it('offers tools of the caller beside those of the prompt, whose calls end the run', async () => {
  const callerSettings = settings({}, { tools: [tool('get_weather'), tool('get_time')], toolChoice: 'required' })
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'get_time', arguments: { zone: 'UTC' } }] })
  const { run, result, sent } = await sentBy('tools', { callerSettings, tools: ['get_time', 'get_weather'] })
  expect(sent).toMatchObject([
    {
      tool_choice: 'required',
      tools: [
        { function: { name: 'get_weather', description: 'own' } },
        { function: { name: 'get_time', description: 'given' } },
      ],
    },
  ])
  expect(result.toolRequests).toMatchObject([{ name: 'get_time', arguments: { zone: 'UTC' } }])
  const chat = { caller, conversationUuid: run.conversationUuid, messages: [userMessage('Never mind')] }
  await (
    await continueConversation(deps(), {
      ...chat,
      mode: 'json',
      callerSettings: settings({}, { tools: [tool('other')] }),
    })
  ).result()
  expect(bench.fake.requests.at(-1)?.body['tools']).toMatchObject([
    { function: { name: 'get_weather' } },
    { function: { name: 'other' } },
  ])
})

it('applies the tool choice of the caller to the first model call only, and not over that of the prompt', async () => {
  const callerSettings = settings({}, { tools: [tool('get_time')], toolChoice: { type: 'tool', toolName: 'nothing' } })
  // A call without a tool of that name is answered with an error, and the model is called again.
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'nothing', arguments: {} }] }, { text: 'Done' })
  const { sent } = await sentBy('plain', { callerSettings })
  expect(sent.map((body) => body['tool_choice'])).toEqual([
    { type: 'function', function: { name: 'nothing' } },
    undefined,
  ])
  const ignored: string[] = []
  const chosen = await sentBy('chooses', { callerSettings, onIgnored: (keys) => void ignored.push(...keys) })
  expect(chosen.sent).toMatchObject([{ tool_choice: 'none' }])
  expect(ignored).toEqual(['toolChoice'])
})

it('takes the last message of a user as the user message that the prompt reads', async () => {
  const asked = (messages: Message[], parameters = {}) =>
    sentBy('asks', { messages, parameters: { topic: 'tea', ...parameters }, userMessageFrom: 'last-message' })
  const image: Message = { role: 'user', content: [{ type: 'image', image: 'https://example.com/a.png' }] }
  const { result } = await asked([assistantMessage('Ask me.'), userMessage('Hot?')])
  expect(result.conversation.slice(0, 3)).toEqual([
    systemMessage('Be brief.'),
    userMessage('About tea: Hot?'),
    assistantMessage('Ask me.'),
  ])
  expect((await asked([image])).result.conversation.slice(1, 3)).toEqual([userMessage('About tea:'), image])
  const given = await asked([userMessage('Hot?')], { LATITUDE_USER_MESSAGE: 'Cold?' })
  expect(given.result.conversation.slice(1, 3)).toEqual([userMessage('About tea: Cold?'), userMessage('Hot?')])
  const plain = await sentBy('plain', { messages: [userMessage('Hot?')], userMessageFrom: 'last-message' })
  expect(plain.result.conversation).toContainEqual(userMessage('Hot?'))
})

it('finds, follows and stops a run by its uuid, as it was at its end', async () => {
  const { run } = await sentBy('plain', { request: '{"n":1}' })
  const next = await continueFromRun(deps(), {
    caller,
    runUuid: run.runUuid,
    messages: [userMessage('More')],
    mode: 'json',
  })
  await next.result()
  expect(next.conversationUuid).toBe(run.conversationUuid)
  deps().runs.active.forget(run.conversationUuid)
  const first = await findRunByUuid(deps(), { caller, runUuid: run.runUuid })
  expect(first).toMatchObject({ uuid: run.conversationUuid, status: 'completed', latestRun: { uuid: run.runUuid } })
  expect(first.messages).toHaveLength(2)
  expect(await stopRun(deps(), { caller, runUuid: run.runUuid })).toMatchObject({ stopped: false, status: 'completed' })
  const events: number[] = []
  const followed = await attachRun(
    deps(),
    { caller, runUuid: run.runUuid, mode: 'stream' },
    AbortSignal.timeout(30_000),
  )
  const frames = followed?.frames((_, entry) => void events.push(entry.id))
  while (frames && !frames.isAtEnd()) frames.take()
  expect(events[0]).toBe(1)
  await deps().runs.store.dropEventLogs(new Date(0), new Date(Date.now() + 60_000))
  const other = { ...caller, projectId: 99 }
  for (const hidden of [
    { caller: other, runUuid: run.runUuid },
    { caller, runUuid: 'x' },
    { caller, runUuid: run.conversationUuid },
  ])
    await expect(findRunByUuid(deps(), hidden)).rejects.toMatchObject({ reason: 'unknown-run' })
  expect(await deps().runs.store.findRequest(1, run.runUuid)).toBe('{"n":1}')
  expect(await deps().runs.store.findRequest(1, next.runUuid)).toBe(null)
})

it('returns null for the stream of a run whose events were dropped, and still its result', async () => {
  const { run } = await sentBy('plain')
  await deps().runs.store.dropEventLogs(new Date(0), new Date(Date.now() + 60_000))
  deps().runs.eventLog.drop(run.runUuid)
  const address = { caller, runUuid: run.runUuid }
  expect(await attachRun(deps(), { ...address, mode: 'stream' }, AbortSignal.timeout(30_000))).toBe(null)
  const joined = await attachRun(deps(), { ...address, mode: 'json' }, AbortSignal.timeout(30_000))
  expect((await joined?.result())?.response.text).toBe('Hello from the fake provider.')
})

it('stops a running run by its uuid', async () => {
  const held = gate()
  const count = bench.fake.requests.length
  bench.fake.enqueue({ gate: held.opened, text: 'late' })
  const run = await startRun(deps(), { ...inputFor('plain'), mode: 'stream' })
  await bench.fake.waitForRequest(count + 1)
  expect(await stopRun(deps(), { caller, runUuid: run.runUuid })).toMatchObject({ stopped: true, status: 'stopped' })
  run.release()
  held.open()
})

it('ends a run at once when its reader leaves, if the caller cannot come back', async () => {
  const held = gate()
  const count = bench.fake.requests.length
  bench.fake.enqueue({ gate: held.opened, text: 'late' })
  const run = await startRun(deps(), { ...inputFor('plain', { endsWithReader: true }), mode: 'stream' })
  const called = await bench.fake.waitForRequest(count + 1)
  run.release()
  await called.left
  held.open()
  await expect.poll(async () => (await findRunByUuid(deps(), { caller, runUuid: run.runUuid })).status).toBe('stopped')
})

it('continues an earlier run in a copy of the conversation, and leaves the conversation itself unchanged', async () => {
  const { run } = await sentBy('warm', { customIdentifier: 'ada' })
  const chat = { caller, runUuid: run.runUuid, mode: 'json' } as const
  bench.fake.enqueue({ text: 'first' }, { text: 'second' }, { text: 'third' })
  await (await continueFromRun(deps(), { ...chat, messages: [userMessage('A?')] })).result()
  const claim = { id: 'fork', requestHash: 'hash' }
  const forkedInput = { ...chat, messages: [userMessage('B?')], request: '{"f":1}', customIdentifier: 'other', claim }
  const fork = await continueFromRun(deps(), forkedInput)
  const { conversation } = await fork.result()
  expect(fork.conversationUuid).not.toBe(run.conversationUuid)
  expect(conversation.map(({ content }) => content[0])).toEqual(
    ['Hi', 'Hello from the fake provider.', 'B?', 'second'].map((text) => ({ type: 'text', text })),
  )
  await expect(continueFromRun(deps(), forkedInput)).rejects.toMatchObject({ reason: 'idempotency-in-progress' })
  deps().runs.active.forget(fork.conversationUuid)
  deps().runs.active.forget(run.conversationUuid)
  const [copy, whole] = [
    await bench.conversation(fork.conversationUuid),
    await bench.conversation(run.conversationUuid),
  ]
  const { versionUuid, path, origin, source } = whole
  expect(copy).toMatchObject({
    versionUuid,
    path,
    origin,
    source,
    conversation,
    customIdentifier: 'ada',
    status: 'completed',
  })
  expect(whole['conversation']).toHaveLength(4)
  expect(await deps().runs.store.findRequest(1, fork.runUuid)).toBe('{"f":1}')
  // The copy continues by itself, with the configuration of the prompt.
  await bench.chat(fork.conversationUuid, { messages: [userMessage('C?')] })
  expect(bench.fake.requests.at(-1)?.body).toMatchObject({ temperature: 0.2, messages: { length: 5 } })
})

it('finds a version by its number', async () => {
  const address = { caller, projectId: projectId() }
  const { version } = await resolveVersion(deps(), { ...address, versionRef: 'live' })
  expect(await numberedVersionRef(deps(), { ...address, versionRef: String(version.number) })).toBe(version.uuid)
  expect(await numberedVersionRef(deps(), { ...address, versionRef: 'live' })).toBe('live')
  for (const versionRef of ['999', '999999999']) {
    await expect(numberedVersionRef(deps(), { ...address, versionRef })).rejects.toMatchObject({
      reason: 'unknown-version',
    })
  }
  // API v3 takes no numbers.
  const inV3 = `${bench.live.replace('/live', `/${version.number}`)}/documents/plain`
  expect((await bench.api('GET', inV3)).status).toBe(404)
})
