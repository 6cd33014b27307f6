import { expect, it } from 'vitest'
import { usageOf } from '../../providers/usage.ts'
import type { Message } from '../../templates/message.ts'
import type { EncodedMessage, LogEntry } from '../ports.ts'
import type { StepResponse } from '../run.ts'
import { createEventEncoder } from './encode-event.ts'
import { addFrame, type MessageForm } from './frames.ts'
import { createMessageList } from './message-list.ts'

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

function encoder(firstEventId = 1) {
  return createEventEncoder({
    conversationUuid: 'uuid-c',
    source: { documentUuid: 'uuid-d', versionUuid: 'uuid-v' },
    firstEventId,
    clock: { now: () => new Date(1_767_322_800_123) },
  })
}

it('a latitude-event is one line of JSON around the messages that it covers', () => {
  const list = createMessageList([question, thought])
  const entry = encoder(7).encode({ latitude: { type: 'chain-started' }, covers: 1 })
  expect(frameOf(entry, list.encoded, 'whole')).toBe(
    'event: latitude-event\n' +
      'data: {"type":"chain-started","timestamp":1767322800123,"uuid":"uuid-c",' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"a\\nb"}]}],"providerLogUuid":"",' +
      '"source":{"documentUuid":"uuid-d","commitUuid":"uuid-v"}}\nid: 7\n\n',
  )
})

it('provider-events are ready frames; ids rise over both kinds', () => {
  const encode = encoder()
  const entries = [
    encode.encode({ provider: { type: 'text-delta', id: 'txt-0', textDelta: 'a "b"' } }),
    encode.encode({ latitude: { type: 'step-completed' }, covers: 0 }),
    encode.encode({ provider: { type: 'text-delta', id: 'txt-1', textDelta: 'c' } }),
    encode.encode({ provider: { type: 'start-step', step: 2 } }),
  ]
  expect(entries.map(({ id }) => id)).toEqual([1, 2, 3, 4])
  expect(encode.lastId()).toBe(4)
  expect(entries[0]?.pieces).toBe(
    'event: provider-event\ndata: {"type":"text-delta","id":"txt-0","textDelta":"a \\"b\\""}\nid: 1\n\n',
  )
  expect(entries[2]?.pieces).toContain('"id":"txt-1"')
  expect(entries[3]?.pieces).toBe('event: provider-event\ndata: {"type":"start-step","step":2}\nid: 4\n\n')
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

it('a response names its messages by place; both forms differ in messages only', () => {
  const list = createMessageList([question, thought])
  const completed = { type: 'provider-completed', response, tokenUsage: response.usage, finishReason: 'stop' } as const
  const entry = encoder().encode({ latitude: completed, covers: 2 })
  const read = (form: 'whole' | 'declared') => {
    const [, data] = /\ndata: (.*)\n/.exec(frameOf(entry, list.encoded, form)) ?? []
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

it('tools-requested is not shown to callers that declare an SDK', () => {
  const entry = encoder().encode({ latitude: { type: 'tools-requested', tools: [] }, covers: 0 })
  expect(frameOf(entry, [], 'declared')).toBe('')
  expect(frameOf(entry, [], 'whole')).toContain('"tools":[]')
})

it('no frame contains characters that some clients take for line breaks, in any position', () => {
  const odd = 'a\u0085b\u2028c\u2029d\r\ne'
  const said: Message = { role: 'assistant', content: [{ type: 'text', text: odd }] }
  const list = createMessageList([said])
  const answer = {
    ...response,
    text: odd,
    object: { [odd]: odd },
    model: odd,
    input: [[0, 1] as const],
    output: [said],
  }
  const encode = encoder()
  const completed = {
    type: 'provider-completed',
    response: answer,
    tokenUsage: response.usage,
    finishReason: 'stop',
  } as const
  const entries = [
    encode.encode({ provider: { type: 'text-delta', id: odd, textDelta: odd } }),
    encode.encode({ provider: { type: 'tool-input-start', id: odd, toolName: odd } }),
    encode.encode({ latitude: { type: 'provider-started', config: { [odd]: odd } }, covers: 1 }),
    encode.encode({ latitude: completed, covers: 1 }),
  ]
  for (const form of ['whole', 'declared'] as const) {
    const frames = entries.map((entry) => frameOf(entry, list.encoded, form))
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
