/** What the drivers make of answers as services really send them. The first number of a name is the kind of deviation. */
import { describe, expect, it } from 'vitest'
import type { AnswerReader } from '../../src/adapters/providers/answer/frames.ts'
import { MessageReader } from '../../src/adapters/providers/anthropic/answer.ts'
import { ChatReader } from '../../src/adapters/providers/openai/chat/answer.ts'
import { ResponseReader } from '../../src/adapters/providers/openai/responses/answer.ts'
import { providerAt, serviceOf } from '../support/model-request.ts'
import { anthropicCases } from './answers/anthropic.ts'
import { chatCases } from './answers/chat.ts'
import { responsesCases } from './answers/responses.ts'
import { type AnswerCase, type Json, outcomeOf, streamOf } from './answers/shape.ts'

const service = serviceOf(providerAt(null))
const bare = (frame: Json) => `data: ${JSON.stringify(frame)}\n\n`

const protocols: [string, AnswerCase[], (frame: Json) => string, (one: AnswerCase) => AnswerReader][] = [
  ['chat', chatCases, bare, ({ settings }) => new ChatReader(service, settings)],
  ['responses', responsesCases, bare, () => new ResponseReader(service)],
  [
    'anthropic',
    anthropicCases,
    bare,
    ({ schema }) => new MessageReader(providerAt(null, { kind: 'anthropic' }), schema),
  ],
]

function expected({ text = '', reasoning = '', calls = [], finishReason = 'stop', usage, error }: AnswerCase) {
  const answer = { text, reasoning, calls }
  if (error) return { error }
  return { ...answer, finishReason, ...(usage && { usage }) }
}

describe.each(protocols)('%s', (_protocol, cases, frameText, readerOf) => {
  it.each(cases.map((one) => [one.name, one] as const))(
    '%s',
    async (_name, one) => {
      const bytes = streamOf(one, frameText)
      for (let at = one.isSplit ? 1 : bytes.length; at <= bytes.length; at += 1) {
        const pieces = [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0)
        expect(await outcomeOf(pieces, one, readerOf(one))).toMatchObject(expected(one))
      }
    },
    10_000,
  )
})
