import type { Message } from '@stet/contract/vocabulary'
import { expect, it } from 'vitest'
import { answerPendingCalls } from './prepare-chat.ts'

const call = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 't', args: {} })),
})
const result = (toolCallId: string): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 't', result: 1 }],
})
const missing = (toolCallId: string) => ({
  type: 'tool-result',
  toolCallId,
  toolName: 't',
  result: 'No result was given',
  isError: true,
})

it('adds a result for every open call and none for answered calls', () => {
  expect(answerPendingCalls([call('a'), result('a')], [])).toEqual([])
  expect(answerPendingCalls([call('a', 'b', 'c'), result('b')], [result('c')])).toEqual([
    { role: 'tool', content: [missing('a')] },
  ])
})

it('accepts new messages that contain calls with their results', () => {
  expect(answerPendingCalls([], [call('own'), result('own')])).toEqual([])
})

it('refuses a result without a call', () => {
  expect(() => answerPendingCalls([call('a')], [result('b')])).toThrow(
    expect.objectContaining({ reason: 'unknown-tool-call', details: { toolCallId: 'b' } }),
  )
})
