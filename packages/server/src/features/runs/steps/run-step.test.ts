import { expect, it } from 'vitest'
import type { FinishReason } from '../../providers/model-driver.ts'
import { readStructuredAnswer } from './run-step.ts'

const read = (text: string, finishReason: FinishReason = 'stop') => readStructuredAnswer({ text, finishReason })

it.each<[string, string, unknown]>([
  ['plain JSON', ' [1] ', [1]],
  ['a fence', '```json\n{"a": "```"}\n```\n', { a: '```' }],
  ['a fence with CRLF', '```\r\nnull\r\n```', null],
  ['reasoning', '<think>\nThe answer is {}.\n</think>\n\n{"a":1}', { a: 1 }],
  ['empty reasoning', '<think></think>[1]', [1]],
  ['reasoning and a fence', '<think>Hm</think>\n```json\n{"a":1}\n```', { a: 1 }],
  ['reasoning without its opening mark', 'The answer is 1.\n</think>\n{"a":1}', { a: 1 }],
  ['a mark inside of JSON', '{"a":"</think>1"}', { a: '</think>1' }],
])('reads %s', (_name, text, value) => {
  expect(read(text)).toEqual(value)
})

it('includes the text and the finish reason in the error', () => {
  const text = `no ${'x'.repeat(3_000)}`
  expect(() => read(text)).toThrow(
    expect.objectContaining({
      code: 'invalid_response_format_error',
      details: { text: text.slice(0, 2_000), finishReason: 'stop' },
    }),
  )
})

it.each<[FinishReason, string]>([
  ['length', 'it was cut off at the output limit'],
  ['content-filter', 'the model refused, or a content filter ended it'],
  ['other', 'it does not parse'],
])('names the end %s', (finishReason, words) => {
  const details = expect.objectContaining({ finishReason })
  expect(() => read('{"a":', finishReason)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(words), details }),
  )
})
