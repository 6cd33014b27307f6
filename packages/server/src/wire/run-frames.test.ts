import type { Message } from '@stet/contract/vocabulary'
import { expect, it } from 'vitest'
import { usageOf } from '../features/providers/usage.ts'
import type { RunEvent } from '../features/runs/events/run-event.ts'
import type { EncodedMessage, LogEntry, MessageForm } from '../features/runs/ports.ts'
import type { StepResponse } from '../features/runs/run.ts'
import { addFrame, bytesOf, encodeEvent, encodeMessage, encodeResponse } from './run-frames.ts'

const thought: Message = {
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'yes' },
  ],
}
const question: Message = { role: 'user', content: [{ type: 'text', text: 'a\nb' }] }

function frameOf(entry: LogEntry, messages: readonly EncodedMessage[], form: MessageForm): string {
  const pieces: (string | Buffer)[] = []
  addFrame(pieces, entry, messages, form)
  return pieces.join('')
}

const run = { uuid: 'uuid-c', documentUuid: 'uuid-d', versionUuid: 'uuid-v' }
const encoded = (event: RunEvent, id = 1) => encodeEvent(event, id, new Date(1_767_322_800_123), run)

it('encodes a latitude-event as one JSON line with the messages it covers', () => {
  const messages = [question, thought].map(encodeMessage)
  const entry = encoded({ latitude: { type: 'chain-started' }, covers: 1 }, 7)
  expect(frameOf(entry, messages, 'whole')).toBe(
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

it('references messages by index; the two forms differ only in messages', () => {
  const messages = [question, thought].map(encodeMessage)
  const completed = {
    type: 'provider-completed',
    response: encodeResponse(response, run.uuid),
    tokenUsage: response.usage,
    finishReason: 'stop',
  } as const
  const entry = encoded({ latitude: completed, covers: 2 })
  const read = (form: 'whole' | 'declared') => {
    const [, data] = /\ndata: (.*)\n/.exec(frameOf(entry, messages, form)) ?? []
    return JSON.parse(data ?? '')
  }
  expect(read('whole')).toMatchObject({
    messages: [question, thought],
    tokenUsage: response.usage,
    response: { object: {}, documentLogUuid: 'uuid-c', input: [question], output: [thought, thought] },
  })
  const declared = { role: 'assistant', content: [{ type: 'text', text: 'yes' }] }
  expect(read('declared')).toMatchObject({
    messages: [question, declared],
    response: { input: [question], output: [declared, declared] },
  })
})

it('omits tools-requested for callers that declare an SDK', () => {
  const entry = encoded({ latitude: { type: 'tools-requested', tools: [] }, covers: 0 })
  expect(frameOf(entry, [], 'declared')).toBe('')
  expect(frameOf(entry, [], 'whole')).toContain('"tools":[]')
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
  for (const form of ['whole', 'declared'] as const) {
    const frames = entries.map((entry) => frameOf(entry, messages, form))
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

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

it('encodes a separate form for legacy clients only if it differs', () => {
  const plain = encodeMessage(says('a'))
  expect(plain.declared).toBe(plain.whole)
  const answer: Message = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'redacted-reasoning', data: 'x' },
      { type: 'text', text: 'yes' },
    ],
    extra: 1,
  }
  expect(JSON.parse(encodeMessage(answer).declared)).toEqual({
    role: 'assistant',
    content: [{ type: 'text', text: 'yes' }],
    extra: 1,
  })
  expect(JSON.parse(encodeMessage({ ...says('a'), role: 'developer' }).declared)).toMatchObject({ role: 'system' })
})

it('shows legacy clients only the parts that they accept for each role', () => {
  const image = { type: 'image', image: 'https://example.com/a.png' } as const
  const text = { type: 'text', text: 'a' } as const
  const shown = (role: Message['role']) => JSON.parse(encodeMessage({ role, content: [text, image] }).declared).content
  expect(shown('user')).toEqual([text, image])
  expect(shown('assistant')).toEqual([text])
  expect(shown('system')).toEqual([text])
  expect(shown('developer')).toEqual([text])
})
