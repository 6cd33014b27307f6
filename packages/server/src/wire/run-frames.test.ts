import type { Message } from '@stet/contract/vocabulary'
import { expect, it } from 'vitest'
import { usageOf } from '../features/providers/usage.ts'
import type { LogEntry } from '../features/runs/ports.ts'
import type { RunEvent, StepResponse } from '../features/runs/run.ts'
import { clientFrames, type LegacyClient } from './legacy-clients.ts'
import { bytesOf, encodeEvent, encodeMessage, encodeResponse } from './run-frames.ts'

const thought: Message = {
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'yes' },
  ],
}
const question: Message = { role: 'user', content: [{ type: 'text', text: 'a\nb' }] }

const legacy: LegacyClient = { readsBackgroundStreams: false }

function frameOf(entry: LogEntry, messages: readonly string[], client?: LegacyClient): string {
  const pieces: (string | Buffer)[] = []
  clientFrames(client)(pieces, entry, messages)
  return pieces.join('')
}

const run = { uuid: 'uuid-c', documentUuid: 'uuid-d', versionUuid: 'uuid-v' }
const encoded = (event: RunEvent, id = 1) => encodeEvent(event, id, new Date(1_767_322_800_123), run)

it('encodes a latitude-event as one JSON line with the messages it covers', () => {
  const messages = [question, thought].map(encodeMessage)
  const entry = encoded({ latitude: { type: 'chain-started' }, covers: 1 }, 7)
  expect(frameOf(entry, messages)).toBe(
    'event: latitude-event\n' +
      'data: {"type":"chain-started","timestamp":1767322800123,"uuid":"uuid-c",' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"a\\nb"}]}],"providerLogUuid":"",' +
      '"source":{"documentUuid":"uuid-d","commitUuid":"uuid-v"}}\nid: 7\n\n',
  )
})

it('encodes provider-events as complete frames', () => {
  const said = encoded({ provider: { type: 'text-delta', id: 'txt-0', textDelta: 'a "b"' } })
  expect(said).toEqual({
    id: 1,
    pieces: 'event: provider-event\ndata: {"type":"text-delta","id":"txt-0","textDelta":"a \\"b\\""}\nid: 1\n\n',
  })
  const started = encoded({ provider: { type: 'start-step', step: 2 } }, 4)
  expect(started.pieces).toBe('event: provider-event\ndata: {"type":"start-step","step":2}\nid: 4\n\n')
})

it('counts the bytes of an event without its referenced messages', () => {
  const said = encoded({ provider: { type: 'text-delta', id: 'txt-0', textDelta: 'é\u6f22\u{1f600}' } })
  expect(bytesOf(said)).toBe(Buffer.byteLength(String(said.pieces)))
  expect(bytesOf({ id: 1, pieces: ['abcd', [0, 9], 'é'] })).toBe(6)
})

const response: StepResponse = {
  streamType: 'object',
  text: '{}',
  object: {},
  toolCalls: [],
  usage: usageOf({ input: 1 }),
  cost: 0,
  model: 'm',
  provider: 'openai',
  finishReason: 'stop',
  input: [[0, 1]],
  output: [[1, 2], thought],
}

it('references messages by index; a legacy client gets other messages', () => {
  const messages = [question, thought].map(encodeMessage)
  const completed = {
    type: 'provider-completed',
    response: encodeResponse(response, run.uuid),
    tokenUsage: response.usage,
    finishReason: 'stop',
  } as const
  const entry = encoded({ latitude: completed, covers: 2 })
  const read = (client?: LegacyClient) => {
    const [, data] = /\ndata: (.*)\n/.exec(frameOf(entry, messages, client)) ?? []
    return JSON.parse(data ?? '')
  }
  expect(read()).toMatchObject({
    messages: [question, thought],
    tokenUsage: response.usage,
    response: { object: {}, documentLogUuid: 'uuid-c', input: [question], output: [thought, thought] },
  })
  const accepted = { role: 'assistant', content: [{ type: 'text', text: 'yes' }] }
  expect(read(legacy)).toMatchObject({
    messages: [question, accepted],
    response: { input: [question], output: [accepted, accepted] },
  })
})

it('omits tools-requested for legacy clients', () => {
  const entry = encoded({ latitude: { type: 'tools-requested', tools: [] }, covers: 0 })
  expect(frameOf(entry, [], legacy)).toBe('')
  expect(frameOf(entry, [])).toContain('"tools":[]')
})

it('escapes every character that some clients treat as a line break', () => {
  const odd = 'a\u0085b\u2028c\u2029d\r\ne'
  const said: Message = { role: 'assistant', content: [{ type: 'text', text: odd }] }
  const messages = [said].map(encodeMessage)
  const answer = {
    ...response,
    text: odd,
    object: { [odd]: odd },
    model: odd,
    input: [[0, 1] as const],
    output: [said],
  }
  const completed = {
    type: 'provider-completed',
    response: encodeResponse(answer, run.uuid),
    tokenUsage: response.usage,
    finishReason: 'stop',
  } as const
  const entries = [
    encoded({ provider: { type: 'text-delta', id: odd, textDelta: odd } }),
    encoded({ provider: { type: 'tool-input-start', id: odd, toolName: odd } }),
    encoded({ latitude: { type: 'provider-started', config: { [odd]: odd } }, covers: 1 }),
    encoded({ latitude: completed, covers: 1 }),
  ]
  for (const client of [undefined, legacy]) {
    const frames = entries.map((entry) => frameOf(entry, messages, client))
    for (const frame of frames) {
      const [name, data, id, ...end] = frame.split(/[\r\n\u0085\u2028\u2029]/)
      expect([name, id, end]).toEqual([expect.stringMatching(/^event: /), expect.stringMatching(/^id: \d$/), ['', '']])
      expect(data).toContain('a\\u0085b\\u2028c\\u2029d')
    }
    expect(JSON.parse(/data: (.*)/.exec(frames[3] ?? '')?.[1] ?? '')).toMatchObject({
      messages: [{ content: [{ text: odd }] }],
      response: { text: odd, object: { [odd]: odd }, output: [{ content: [{ text: odd }] }] },
    })
  }
})

/** Returns the frame's messages for a legacy client. */
function legacyMessages(messages: readonly Message[]): unknown {
  const entry = encoded({ latitude: { type: 'step-completed' }, covers: messages.length })
  const [, data] = /\ndata: (.*)\n/.exec(frameOf(entry, messages.map(encodeMessage), legacy)) ?? []
  return (JSON.parse(data ?? '') as { messages: unknown }).messages
}

it('shows legacy clients a message without the parts that they refuse, and otherwise unchanged', () => {
  const says = (role: Message['role']): Message => ({ role, content: [{ type: 'text', text: 'a' }], extra: 1 })
  const answer: Message = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'redacted-reasoning', data: 'x' },
      { type: 'text', text: 'a' },
    ],
    extra: 1,
  }
  expect(legacyMessages([says('user'), answer, says('developer')])).toEqual([
    says('user'),
    says('assistant'),
    says('system'),
  ])
})

it('shows legacy clients only the parts that they accept for each role', () => {
  const image = { type: 'image', image: 'https://example.com/a.png' } as const
  const text = { type: 'text', text: 'a' } as const
  const shown = (role: Message['role']) => legacyMessages([{ role, content: [text, image] }])
  expect(shown('user')).toMatchObject([{ content: [text, image] }])
  for (const role of ['assistant', 'system', 'developer'] as const)
    expect(shown(role)).toMatchObject([{ content: [text] }])
})
