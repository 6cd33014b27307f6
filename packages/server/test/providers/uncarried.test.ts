/**
 * Content that no stet message can represent ends the call with an error that names it. It is never dropped silently.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import type { ModelChunk, ProviderSettings } from '../../src/features/providers/model-driver.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { callOf, chunksOf, failureOf, modelRequest, providerAt, textOf } from '../support/model-request.ts'

type Json = Record<string, unknown>

const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
let fake: FakeProvider
beforeAll(async () => {
  fake = await fakeProvider()
})
afterAll(async () => {
  await drivers.close()
  await fake.close()
})

const call = (entry: Partial<ProviderSettings>, stream: boolean) => {
  const request = modelRequest(fake.url, { provider: providerAt(fake.url, entry), stream })
  return callOf(drivers.driverFor(request.provider), request)
}
const raw = (...frames: Json[]) => ({ raw: frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`) })

const chat = (message: Json) => {
  const answer = (key: string) => ({ choices: [{ index: 0, [key]: message, finish_reason: 'stop' }] })
  return [answer('delta'), answer('message')] as const
}
const responses = (...output: Json[]) => {
  const response = { status: 'completed', output }
  const items = output.map((item) => ({ type: 'response.output_item.done', item }))
  return [...items, { type: 'response.completed', response }, response] as const
}
const messages = (...content: Json[]) => {
  const blocks = content.flatMap((content_block, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ])
  const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }]
  return [...blocks, ...end, { type: 'message', content, stop_reason: 'end_turn' }] as const
}

const word = { type: 'message', content: [{ type: 'output_text', text: 'I will click.' }] }
const sound = { type: 'message', content: [{ type: 'output_audio', data: 'AAAA', transcript: 'Hi' }] }
const custom = { id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }
const cases: [string, Partial<ProviderSettings>, readonly Json[], string][] = [
  ['sound', {}, chat({ content: null, audio: { id: 'a', data: 'AAAA', transcript: 'Hi' } }), 'audio'],
  ['a call that is not a function call', {}, chat({ tool_calls: [custom] }), 'custom tool call'],
  ['only a part of an unknown type', {}, chat({ content: [{ type: 'video_url', video_url: {} }] }), 'video_url'],
  ['a computer call', responsesEntry(), responses(word, { type: 'computer_call', id: 'x' }), 'computer_call'],
  ['sound', responsesEntry(), responses(sound), 'output_audio'],
  ['only an item of an unknown type', responsesEntry(), responses({ type: 'hologram' }), 'hologram'],
  [
    'only a block of an unknown type',
    { kind: 'anthropic' },
    messages({ type: 'container_upload' }),
    'container_upload',
  ],
]

function responsesEntry(): Partial<ProviderSettings> {
  return { configuration: { endpoint: 'responses' } }
}

describe.each(cases)('%s', (_name, entry, answer, contentType) => {
  it.each([true, false])(`ends the call as ${contentType}, streamed: %s`, async (stream) => {
    fake.enqueue(stream ? raw(...answer.slice(0, -1)) : { status: 200, body: answer.at(-1) })
    const failure = await failureOf(call(entry, stream))
    expect(failure).toMatchObject({ kind: 'uncarried', contentType })
  })
})

describe('content next to supported content', () => {
  const beside: [string, Partial<ProviderSettings>, readonly Json[]][] = [
    ['chat', {}, chat({ content: [{ type: 'text', text: 'Hi' }, { type: 'video_url' }], audio: null })],
    ['responses', responsesEntry(), responses({ type: 'code_interpreter_call', id: 'x' }, word)],
    ['anthropic', { kind: 'anthropic' }, messages({ type: 'server_tool_use' }, { type: 'text', text: 'Hi' })],
  ]
  it.each(beside)('is skipped: %s', async (_name, entry, answer) => {
    fake.enqueue({ status: 200, body: answer.at(-1) })
    expect(textOf(await chunksOf(call(entry, false)))).not.toBe('')
  })

  it('returns finish reason length for a truncated response with only unsupported content', async () => {
    const response = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'web_search_call' }],
    }
    fake.enqueue({ status: 200, body: response })
    expect(await chunksOf(call(responsesEntry(), false))).toMatchObject([{ type: 'finish', finishReason: 'length' }])
  })

  it('keeps earlier text', async () => {
    const answer = [{ type: 'response.output_text.delta', delta: 'Look' }, ...responses({ type: 'shell_call' })]
    fake.enqueue(raw(...answer.slice(0, -1)))
    const seen: ModelChunk[] = []
    await failureOf(call(responsesEntry(), true), seen)
    expect(textOf(seen)).toBe('Look')
  })
})

it('accepts a frame with a whole image, but no larger frame', async () => {
  const image = (megabytes: number) => {
    const url = `data:image/png;base64,${'A'.repeat(megabytes * 1_000_000)}`
    return raw(chat({ content: 'See', images: [{ type: 'image_url', image_url: { url } }] })[0])
  }
  fake.enqueue(image(6), image(17))
  expect((await chunksOf(call({}, true))).map(({ type }) => type)).toEqual(['text-delta', 'file', 'finish'])
  expect(await failureOf(call({}, true))).toMatchObject({ kind: 'malformed' })
})
