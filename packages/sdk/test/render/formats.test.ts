/**
 * Ordinary messages and responses match those of promptl-ai. The shapes that APIs refuse from promptl-ai are named below,
 * and `shapes.test.ts` has them as literals.
 */
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

const isEmpty = ({ content }: RenderedMessage) => content.length === 0
const isTool = ({ role }: RenderedMessage) => role === 'tool'
const isAssistant = ({ role }: RenderedMessage) => role === 'assistant'
const isDeveloper = ({ role }: RenderedMessage) => role === 'developer'
const isCallOnly = (message: RenderedMessage) =>
  isAssistant(message) && message.content.every(({ type }) => type === 'tool-call')
const hasOtherKeys = (message: RenderedMessage) => 'cache' in message
const hasEmptyText = ({ content }: RenderedMessage) => content.some(({ text, file }) => text === '' || file === '')
const isMedia = ({ type, mimeType }: RenderedPart) => type === 'image' || (type === 'file' && mimeType !== 'text/plain')
const hasMediaFromUser = ({ role, content }: RenderedMessage) => role === 'user' && content.some(isMedia)
const isMediaOrFile = ({ type }: RenderedPart) => type === 'image' || type === 'file'
const hasMediaOrFile = ({ content }: RenderedMessage) => content.some(isMediaOrFile)
const hasOtherResult = ({ content }: RenderedMessage) =>
  content.some(({ result }) => Array.isArray(result) && (result.length === 0 || result.some(isMediaOrFile)))

const DIFFERENCES: Record<Name, ((message: RenderedMessage) => boolean)[]> = {
  openai: [isEmpty, isTool, isDeveloper, isCallOnly, hasOtherKeys, hasMediaFromUser],
  openaiResponses: [isEmpty, isAssistant, hasMediaOrFile, hasOtherResult],
  anthropic: [
    isEmpty,
    isTool,
    hasOtherKeys,
    hasEmptyText,
    (message) => !isDeveloper(message) && hasMediaOrFile(message),
  ],
}

describe.each(names)('the format %s', (name: Name) => {
  it('writes random conversations as promptl-ai does', () => {
    const random = new ConversationWriter(SEED)
    const tally = { same: 0, refused: 0 }
    for (let made = 0; made < count; made += 1) {
      const { config, messages: all } = random.conversation()
      const messages = all.filter((message) => !DIFFERENCES[name].some((differs) => differs(message)))
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
