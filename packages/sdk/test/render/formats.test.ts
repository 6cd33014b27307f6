/** The message formats of providers match those of promptl-ai, apart from the named differences. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { Adapters } from 'promptl-ai'
import { describe, expect, it } from 'vitest'
import { readAnswer, writeConversation } from '../../src/render/adapter.ts'
import { ConversationWriter } from './random-conversations.ts'

const count = process.env['STET_TEST_LONG'] === '1' ? 50_000 : 2_000
const SEED = 20_261_128

const names = ['openai', 'openaiResponses', 'anthropic'] as const
type Name = (typeof names)[number]

interface Outcome {
  value?: unknown
  error?: unknown
}

function outcomeOf(action: () => unknown): Outcome {
  try {
    return { value: action() }
  } catch (error) {
    return { error }
  }
}

describe.each(names)('the format %s', (name: Name) => {
  it('writes random conversations as promptl-ai does', () => {
    const random = new ConversationWriter(SEED)
    const tally = { same: 0, refused: 0 }
    for (let made = 0; made < count; made += 1) {
      const { config, messages } = random.conversation()
      const own = outcomeOf(() => writeConversation(config, messages, { adapter: name }))
      const theirs = outcomeOf(() => writeConversation(config, messages, { adapter: Adapters[name] }))
      if (theirs.error) {
        expect(own.error, JSON.stringify(messages)).toMatchObject({ name: 'ConfigurationError' })
        tally.refused += 1
      } else {
        expect(own, JSON.stringify(messages)).toEqual({ value: withoutEmptySystem(theirs.value) })
        tally.same += 1
      }
    }
    expect(tally.same).toBeGreaterThan(count / 2)
    // Each format refuses developer messages or parts of some type, except this one.
    expect(tally.refused > count / 50).toBe(name !== 'openaiResponses')
  })

  it('reads random responses as promptl-ai does', () => {
    const random = new ConversationWriter(SEED)
    const tally = { same: 0, refused: 0 }
    for (let made = 0; made < count; made += 1) {
      const answer = { role: 'assistant', ...random.answer(name) }
      const own = outcomeOf(() => readAnswer(answer, name))
      const theirs = outcomeOf(() => readAnswer(answer, Adapters[name]))
      if (theirs.error) {
        if (isReadHereOnly(answer)) {
          expect(own.value, JSON.stringify(answer)).toMatchObject([{ role: 'assistant' }])
          continue
        }
        expect(own.error, JSON.stringify(answer)).toMatchObject({ name: 'ConfigurationError' })
        tally.refused += 1
      } else {
        expect(own, JSON.stringify(answer)).toEqual(theirs)
        tally.same += 1
      }
    }
    expect(tally.same).toBeGreaterThan(count / 2)
  })
})

/** promptl-ai adds an empty `system` for Anthropic. */
function withoutEmptySystem(written: unknown): unknown {
  const { config, ...rest } = written as { config: Record<string, unknown> }
  const { system, ...others } = config
  return { ...rest, config: Array.isArray(system) && system.length === 0 ? others : config }
}

/** promptl-ai refuses the model's text in a message without an id. */
function isReadHereOnly({ type, content, id }: Record<string, unknown>): boolean {
  if (type !== 'message' || id !== undefined || !Array.isArray(content)) return false
  const types = content.map((part: RenderedPart) => part.type)
  return types.length > 0 && types.every((each) => each === 'output_text' || each === 'refusal')
}

it('writes binary data of tool results as promptl-ai does', () => {
  const data = Buffer.from('%PDF – 🙂')
  const parts: RenderedPart[] = [
    { type: 'image', image: data },
    { type: 'file', file: data, mimeType: 'application/pdf' },
    { type: 'file', file: data, mimeType: 'text/plain' },
    { type: 'image', image: new URL('https://host/a.png') },
  ]
  const result = { type: 'tool-result', toolCallId: 'a', toolName: 'look_up', result: parts }
  const messages: RenderedMessage[] = [{ role: 'tool', content: [result] }]
  const { messages: own } = writeConversation({}, messages, { adapter: 'anthropic' })
  expect(own).toEqual(writeConversation({}, messages, { adapter: Adapters.anthropic }).messages)
  expect(JSON.stringify(own)).toContain(data.toString('base64'))
})
