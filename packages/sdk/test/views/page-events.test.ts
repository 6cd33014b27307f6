/** A page sees only what is listed here. The test marks every text of every event and searches for it in the page. */
import { describe, expect, it } from 'vitest'
import { toUIMessageStreamResponse } from '../../src/ai/index.ts'
import { type ForwardOptions, RunStream, type StreamEvent } from '../../src/index.ts'

const UUID = 'b7c9a1de-1111-4222-8333-444455556666'
const SOURCE = { documentUuid: 'document uuid', commitUuid: 'version uuid' }
const MESSAGES = [
  { role: 'system', content: [{ type: 'text', text: 'system prompt' }] },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'messages.toolCallId',
        toolName: 'messages.toolName',
        result: 'messages.result',
      },
    ],
  },
]
const USAGE = {
  promptTokens: 3,
  completionTokens: 2,
  totalTokens: 5,
  inputTokens: 3,
  outputTokens: 2,
  reasoningTokens: 0,
  cachedInputTokens: 0,
}
/** A newer server may add a key to any object of an event. */
const NEW = { newKey: 'new key', newList: ['new item'], newObject: { deep: 'new value' } }

const toolCall = (place: string) => ({
  id: `${place}.id`,
  name: `${place}.name`,
  arguments: { q: `${place}.arguments` },
  ...NEW,
})
const response = (place: string) => ({
  streamType: 'object',
  text: `${place}.text`,
  object: { label: `${place}.object` },
  reasoning: `${place}.reasoning`,
  usage: { ...USAGE, ...NEW },
  toolCalls: [toolCall(`${place}.toolCalls`)],
  cost: 0.5,
  model: `${place}.model`,
  provider: `${place}.provider`,
  finishReason: 'stop',
  documentLogUuid: UUID,
  input: MESSAGES,
  output: MESSAGES,
  ...NEW,
})
const error = { name: 'DocumentRunError', message: 'error.message', errorCode: 'ai_run_error', code: 'ai_run_error' }

/** Every type of event, with unique texts. The compiler requires every type. */
const PLANTED: { [T in StreamEvent['type']]: Record<string, unknown> } = {
  'chain-started': {},
  'step-started': {},
  'step-completed': {},
  'provider-started': { config: { provider: 'config.provider', model: 'config.model', tools: ['config.tools'] } },
  'provider-completed': { response: response('completed'), tokenUsage: { ...USAGE, ...NEW }, finishReason: 'stop' },
  'tools-requested': { tools: [toolCall('requested')] },
  'chain-completed': {
    response: response('end'),
    toolCalls: [toolCall('endCalls')],
    toolRequests: [toolCall('endRequests')],
    tokenUsage: { ...USAGE, ...NEW },
    finishReason: 'stop',
    cost: 0.5,
  },
  'chain-error': {
    error: { ...error, details: { errorCode: 'ai_run_error', path: 'error.details' }, stack: 'error.stack', ...NEW },
    tokenUsage: { ...USAGE, ...NEW },
    cost: 0.5,
  },
  'start-step': { step: 1 },
  'text-delta': { id: 'text.id', textDelta: 'text.delta' },
  'reasoning-delta': { id: 'reasoning.id', text: 'reasoning.text' },
  'tool-input-start': { id: 'input.id', toolName: 'input.name' },
  'tool-input-delta': { id: 'input.id', delta: 'input.delta' },
  'tool-call': {
    toolCallId: 'call.id',
    toolName: 'call.name',
    args: { q: 'call.args' },
    _sourceData: { source: 'serverTool', ...NEW },
  },
  'tool-result': {
    toolCallId: 'call.id',
    toolName: 'call.name',
    args: { q: 'result.args' },
    result: { rows: ['result.result'] },
    isError: false,
  },
  'tool-error': { toolCallId: 'other.id', toolName: 'other.name', args: { q: 'failed.args' }, error: 'failed.error' },
  source: { sourceType: 'url', id: 'source.id', url: 'source.url', title: 'source.title' },
  file: { url: 'file.url', mimeType: 'file.mimeType' },
  'finish-step': { finishReason: 'stop', usage: { ...USAGE, ...NEW } },
  finish: { finishReason: 'stop', usage: { ...USAGE, ...NEW } },
  error: { error: { message: 'provider.message', status: 500, ...NEW } },
}
const ENDS = ['chain-completed', 'chain-error']
const LATITUDE = [
  ...ENDS,
  'chain-started',
  'step-started',
  'step-completed',
  'provider-started',
  'provider-completed',
  'tools-requested',
]

type Payload = Record<string, unknown> & { type: string }

function frame(data: Payload, index: number): string {
  const event = LATITUDE.includes(data.type) || data['uuid'] === UUID ? 'latitude-event' : 'provider-event'
  return `event: ${event}\ndata: ${JSON.stringify(data)}\nid: ${index + 1}\n\n`
}

function runEndingWith(end: 'chain-completed' | 'chain-error'): RunStream {
  const chain = {
    uuid: UUID,
    timestamp: 7,
    messages: MESSAGES,
    providerLogUuid: 'provider log',
    source: { ...SOURCE, ...NEW },
  }
  const known = Object.entries(PLANTED).map(([type, data]) => ({
    type,
    ...(LATITUDE.includes(type) && chain),
    ...data,
    ...NEW,
  }))
  const unknown: Payload[] = [
    { type: 'prompt-compiled', ...chain, ...NEW },
    { type: 'trace', ...NEW, messages: MESSAGES, config: 'new config' },
    { type: 'constructor', ...NEW },
    { type: '__proto__', ...NEW },
  ]
  const all: Payload[] = [
    ...known.filter(({ type }) => !ENDS.includes(type)),
    ...unknown,
    ...known.filter(({ type }) => type === end),
  ]
  const body = `${all.map(frame).join('')}`
  return RunStream.fromResponse(new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }))
}

function textsOf(value: unknown): string[] {
  const found: string[] = []
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') found.push(part)
    return part
  })
  return [...new Set(found)].sort()
}

/** Returns the forwarded payloads that contain text. */
async function forwarded(stream: RunStream, o?: ForwardOptions): Promise<Record<string, unknown>[]> {
  const response = stream.toResponse(o)
  expect(JSON.stringify([...response.headers])).not.toMatch(/uuid"|key|prompt/)
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  return lines.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
}

async function visible(end: 'chain-completed' | 'chain-error', o?: ForwardOptions): Promise<Record<string, string[]>> {
  const seen: Record<string, string[]> = {}
  for (const { type, uuid, ...rest } of await forwarded(runEndingWith(end), o)) {
    if (uuid !== undefined) expect(uuid).toBe(UUID)
    seen[String(type)] = textsOf(rest).filter((text) => text !== '' && text !== UUID)
  }
  return seen
}

const answer = (place: string) => [
  `${place}.object`,
  `${place}.reasoning`,
  `${place}.text`,
  `${place}.toolCalls.id`,
  `${place}.toolCalls.name`,
]
const ids = (...places: string[]) => places.flatMap((place) => [`${place}.id`, `${place}.name`])
/** Everything that a page can read (see docs/sdk/frontends.md). */
const VISIBLE: Record<string, string[]> = {
  'chain-started': [],
  'step-started': [],
  'step-completed': [],
  'provider-started': [],
  'provider-completed': [...answer('completed'), 'object', 'stop'],
  'tools-requested': ids('requested'),
  'chain-completed': [...answer('end'), ...ids('endCalls', 'endRequests'), 'object', 'stop'],
  'chain-error': ['DocumentRunError', 'The run failed', 'ai_run_error'],
  'start-step': [],
  'text-delta': ['text.delta', 'text.id'],
  'reasoning-delta': ['reasoning.id', 'reasoning.text'],
  'tool-input-start': ['input.id', 'input.name'],
  'tool-call': ['call.id', 'call.name', 'serverTool'],
  'tool-result': ['call.id', 'call.name'],
  'tool-error': ['other.id', 'other.name'],
  source: ['source.id', 'source.title', 'source.url', 'url'],
  file: ['file.mimeType', 'file.url'],
  'finish-step': ['stop'],
  finish: ['stop'],
  error: ['The run failed'],
}

function expected(end: 'chain-completed' | 'chain-error', more: Record<string, string[]> = {}) {
  const shown = Object.entries({ ...VISIBLE, ...more }).filter(([type]) => type === end || !ENDS.includes(type))
  return Object.fromEntries(shown.map(([type, texts]) => [type, [...new Set(texts)].sort()]))
}

describe.each(['chain-completed', 'chain-error'] as const)('a run that ends with %s', (end) => {
  it('sends a page only the response', async () => {
    expect(await visible(end)).toEqual(expected(end))
  })

  it('sends only the response as bytes, too', async () => {
    const texts: string[] = []
    for await (const bytes of runEndingWith(end).toReadableStream()) texts.push(new TextDecoder().decode(bytes))
    expect(texts.join('')).toBe(await runEndingWith(end).toResponse().text())
  })

  it.each([
    ['messages', ['system prompt', 'messages.result']],
    ['config', ['config.model', 'config.tools', 'completed.model', 'completed.provider']],
    ['ids', ['document uuid', 'version uuid']],
    ['tools', ['call.args', 'input.delta', 'result.result', 'failed.error', 'requested.arguments']],
    ['errors', ['provider.message', ...(end === 'chain-error' ? ['error.message', 'error.details'] : [])]],
  ] as const)('shows %s on demand, and nothing of the others', async (name, texts) => {
    const before = textsOf(await forwarded(runEndingWith(end)))
    const after = textsOf(await forwarded(runEndingWith(end), { expose: [name] }))
    const more = after.filter((text) => !before.includes(text))
    expect(more).toEqual(expect.arrayContaining([...texts]))
    const others: Record<string, RegExp> = {
      messages: /config|uuid|arg|input|failed|provider\.message|new/,
      config: /system|messages|uuid|arg|input|failed|provider\.message|new/,
      ids: /system|messages|config|model|arg|input|failed|provider\.message|new/,
      tools: /system|messages|config|model|uuid|provider\.message|new/,
      errors: /system|messages|config|model|uuid|arg|input|failed|new/,
    }
    expect(more.filter((text) => others[name]?.test(text))).toEqual([])
  })

  it('sends everything on demand, including unknown events', async () => {
    const types = (await forwarded(runEndingWith(end), { expose: true })).map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['prompt-compiled', 'trace', 'constructor', 'tool-input-delta', end]))
    const raw: unknown[] = []
    const stream = runEndingWith(end).on('event', ({ data }) => raw.push(data))
    await stream.finalResult().catch(() => {})
    expect(await forwarded(runEndingWith(end), { expose: true })).toEqual(raw)
  })

  it('sends an AI SDK page only the response and its tools', async () => {
    const body = await toUIMessageStreamResponse(runEndingWith(end)).text()
    const chunks = body.split('\n').filter((line) => line.startsWith('data: {'))
    const texts = textsOf(chunks.map((line) => JSON.parse(line.slice(6)) as unknown))
    const hidden = /system|messages|config|model|uuid$|provider|new|details|stack|error\.message/
    expect(texts.filter((text) => hidden.test(text))).toEqual([])
    expect(texts).toEqual(expect.arrayContaining(['text.delta', 'reasoning.text', 'call.args', 'result.result', UUID]))
    if (end === 'chain-error') expect(texts).toContain('The run failed')
    const told = await toUIMessageStreamResponse(runEndingWith(end), { expose: ['errors'] }).text()
    expect(told.includes('error.message')).toBe(end === 'chain-error')
  })
})
