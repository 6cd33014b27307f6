import { expect, it } from 'vitest'
import { usageOf } from '../../providers/usage.ts'
import { createModelAnswer, partialMessage, takeChunk } from './call-model.ts'

it('keeps the order of reasoning, text and calls, and assigns its own call ids', () => {
  const answer = createModelAnswer(1, new Map([['look', { source: 'client' }]]))
  const events = [
    takeChunk(answer, { type: 'reasoning-delta', text: 'h' }),
    takeChunk(answer, { type: 'reasoning-delta', text: 'm' }),
    takeChunk(answer, { type: 'text-delta', text: 'I ' }),
    takeChunk(answer, { type: 'text-delta', text: 'look.' }),
    takeChunk(answer, { type: 'tool-input-start', id: '0', toolName: 'look' }),
    takeChunk(answer, { type: 'tool-input-delta', id: '0', delta: '{}' }),
    takeChunk(answer, { type: 'tool-call', id: '0', toolName: 'look', args: { at: 1 }, rawArgs: '{"at":1}' }),
    takeChunk(answer, { type: 'finish', finishReason: 'tool-calls', usage: usageOf({ input: 3 }) }),
  ]
  const [call] = answer.calls
  expect(call).toEqual({ id: expect.stringMatching(/^call_\w{24}$/), name: 'look', arguments: { at: 1 } })
  expect(answer.message).toEqual({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', id: 'rsn-1' },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: call?.id, toolName: 'look', args: { at: 1 } },
    ],
  })
  // A reader that has seen a call may send its result, also if the model's answer fails then.
  expect(partialMessage(answer)?.content).toHaveLength(2)
  answer.shownCalls = 1
  expect(partialMessage(answer)).toEqual(answer.message)
  expect(events.at(-1)).toBeUndefined()
  expect(events[2]).toEqual({ type: 'text-delta', id: 'txt-1', textDelta: 'I ' })
  expect(events[4]).toEqual({ type: 'tool-input-start', id: call?.id, toolName: 'look' })
  expect(answer).toMatchObject({ text: 'I look.', reasoning: 'hm', finishReason: 'tool-calls', faultyCalls: [] })
})

it('reports calls with invalid arguments or an unknown tool as faulty', () => {
  const answer = createModelAnswer(0, new Map([['look', { source: 'client' }]]))
  const event = takeChunk(answer, { type: 'tool-call', id: 'a', toolName: 'look', args: undefined, rawArgs: '{' })
  takeChunk(answer, { type: 'tool-call', id: 'b', toolName: 'other', args: {}, rawArgs: '{}' })
  expect(event).toMatchObject({ type: 'tool-error', args: {}, error: 'The arguments are not a JSON object' })
  expect(answer.calls).toEqual([])
  expect(answer.faultyCalls.map(({ reason }) => reason)).toEqual([
    'The arguments are not a JSON object',
    "There is no tool 'other'",
  ])
})

it('returns no partial message for an empty answer', () => {
  const answer = createModelAnswer(0, new Map())
  expect(partialMessage(answer)).toBeUndefined()
})

it('stores signatures with their parts and does not expose them in events', () => {
  const answer = createModelAnswer(0, new Map([['look', { source: 'client' as const }]]))
  const seal = { signature: 's', provider: 'Claude' }
  expect(takeChunk(answer, { type: 'reasoning-delta', text: 'a' })).toBeDefined()
  expect(takeChunk(answer, { type: 'reasoning-end', seal })).toBeUndefined()
  expect(takeChunk(answer, { type: 'redacted-reasoning', data: 'x', provider: 'Claude' })).toBeUndefined()
  takeChunk(answer, { type: 'reasoning-end', seal: { signature: 't', provider: 'Claude' } })
  takeChunk(answer, { type: 'reasoning-delta', text: 'b' })
  expect(
    takeChunk(answer, { type: 'tool-call', id: '0', toolName: 'look', args: {}, rawArgs: '', seal }),
  ).not.toHaveProperty('signature')
  takeChunk(answer, { type: 'finish', finishReason: 'stop', usage: usageOf({}), cacheWriteTokens: 7 })
  expect(answer.cacheWriteTokens).toBe(7)
  expect(answer.message.content).toEqual([
    { type: 'reasoning', text: 'a', id: 'rsn-0', ...seal },
    { type: 'redacted-reasoning', data: 'x', provider: 'Claude' },
    { type: 'reasoning', text: '', id: 'rsn-0', signature: 't', provider: 'Claude' },
    { type: 'reasoning', text: 'b', id: 'rsn-0' },
    { type: 'tool-call', toolCallId: answer.calls[0]?.id, toolName: 'look', args: {}, ...seal },
  ])
})
