/** Checks every provider kind in every case: stet reads the service's responses and sends its request format. */
import { readFile } from 'node:fs/promises'
import type { Message, MessagePart } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import type { ModelChunk, ModelRequest } from '../../src/features/providers/model-driver.ts'
import { ProviderError } from '../../src/features/providers/provider-error.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { callOf, chunksOf, failureOf, modelRequest, providerAt, textOf } from '../support/model-request.ts'
import { featureRows } from './feature-table.ts'
import { anthropic } from './wires/anthropic.ts'
import { azure } from './wires/azure.ts'
import { custom } from './wires/custom.ts'
import { deepseek } from './wires/deepseek.ts'
import { google } from './wires/google.ts'
import { groq } from './wires/groq.ts'
import { mistral } from './wires/mistral.ts'
import { openai } from './wires/openai.ts'
import { perplexity } from './wires/perplexity.ts'
import { responses } from './wires/responses.ts'
import {
  type AnswerWire,
  answerCases,
  closedSchema,
  type FailureWire,
  failureCases,
  type Json,
  type KindWire,
  pixel,
  requestCases,
  type Told,
} from './wires/shape.ts'
import { xai } from './wires/xai.ts'

const kinds: Record<string, KindWire> = {
  openai,
  responses,
  azure,
  anthropic,
  google,
  groq,
  mistral,
  deepseek,
  xai,
  perplexity,
  custom,
}

const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
let fake: FakeProvider
beforeAll(async () => {
  fake = await fakeProvider()
})
afterAll(async () => {
  await drivers.close()
  await fake.close()
})

function call(wire: KindWire, more: Partial<ModelRequest> = {}) {
  const azureAddress = { baseUrl: fake.url, ...wire.provider.configuration }
  const provider = providerAt(fake.url, {
    name: 'Entry',
    ...wire.provider,
    ...(wire.provider.kind === 'azure' && { configuration: azureAddress }),
  })
  const request = modelRequest(fake.url, { provider, model: wire.model, maxRetries: 0, ...more })
  return callOf(drivers.driverFor(provider), request)
}

const sent = (frames: readonly (Json | string)[]) => ({
  raw: frames.map((frame) => (typeof frame === 'string' ? frame : `data: ${JSON.stringify(frame)}\n\n`)),
})

function toldBy(chunks: readonly ModelChunk[]): Told {
  const told: Required<Told> = {
    text: textOf(chunks),
    reasoning: '',
    calls: [],
    files: [],
    sources: [],
    finishReason: 'unknown',
    usage: {},
  }
  const begun: string[] = []
  for (const chunk of chunks) {
    if (chunk.type === 'reasoning-delta') told.reasoning += chunk.text
    if (chunk.type === 'tool-input-start') begun.push(chunk.toolName)
    if (chunk.type === 'tool-call') told.calls.push([chunk.toolName, chunk.args ?? { not: chunk.rawArgs }])
    if (chunk.type === 'file') told.files.push([chunk.url, chunk.mimeType])
    if (chunk.type === 'source') told.sources.push(String(chunk.payload['url']))
    if (chunk.type === 'finish') Object.assign(told, { finishReason: chunk.finishReason, usage: chunk.usage })
  }
  expect(begun).toEqual(told.calls.map(([name]) => name))
  expect(new Set(chunks.flatMap((chunk) => (chunk.type === 'tool-call' ? [chunk.id] : []))).size).toBe(
    told.calls.length,
  )
  expect(chunks.filter(({ type }) => type === 'finish')).toEqual(chunks.slice(-1))
  return told
}

const expected = ({ usage, ...told }: Told) => ({
  text: '',
  reasoning: '',
  calls: [],
  files: [],
  sources: [],
  ...told,
  usage: expect.objectContaining(usage ?? {}),
})

async function checkAnswer(wire: KindWire, { frames, plain, told }: AnswerWire): Promise<void> {
  fake.enqueue(sent(frames), { status: 200, body: plain })
  const before = fake.requests.length
  expect(toldBy(await chunksOf(call(wire)))).toEqual(expected(told))
  expect(toldBy(await chunksOf(call(wire, { stream: false })))).toEqual(expected(told))
  const paths = fake.requests.slice(before).map(({ path }) => path)
  expect(paths).toEqual([expect.stringContaining(wire.path), expect.stringContaining(wire.path)])
}

async function checkFailure(wire: KindWire, { status, headers, body, frames, told }: FailureWire): Promise<void> {
  fake.enqueue(frames ? sent(frames) : { status: status ?? 500, body, ...(headers && { headers }) })
  const failure = await failureOf(call(wire, { stream: frames !== undefined }))
  expect(failure).toBeInstanceOf(ProviderError)
  expect(failure).toMatchObject(told)
}

const text = (value: string): MessagePart => ({ type: 'text', text: value })
const says = (role: Message['role'], ...content: MessagePart[]): Message => ({ role, content })
const shows = (part: MessagePart) => ({ messages: [says('user', text('See'), part)] })
const stop = { name: 'stop', description: 'Stops.', parameters: { type: 'object' } }
const thought: MessagePart = { type: 'reasoning', text: 'Hm', id: 'rs_1', signature: 'sealed', provider: 'Entry' }
const stopCall: MessagePart = { type: 'tool-call', toolCallId: 'call_abc', toolName: 'stop', args: {} }

const asked: Record<(typeof requestCases)[number], Partial<ModelRequest>> = {
  'image by URL': shows({ type: 'image', image: 'https://pics.test/a.png' }),
  'image by content': shows({ type: 'image', image: pixel, mimeType: 'image/png' }),
  'PDF by content': shows({ type: 'file', file: 'JVBERi0=', mimeType: 'application/pdf', name: 'a.pdf' }),
  'PDF by URL': shows({ type: 'file', file: 'https://docs.test/a.pdf', mimeType: 'application/pdf', name: 'a.pdf' }),
  'sound by content': shows({ type: 'file', file: 'UklGRg==', mimeType: 'audio/wav' }),
  'structured answer': { schema: closedSchema, messages: [says('user', text('Hi'))] },
  tools: { tools: [stop], settings: { toolChoice: 'required', parallelToolCalls: false } },
  settings: {
    settings: {
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      seed: 7,
      stop: ['x'],
      reasoningEffort: 'low',
      maxTokens: 5,
      parallelToolCalls: true,
    },
  },
  roles: {
    messages: [
      says('developer', text('d')),
      says('user', text('u')),
      says('assistant', text('a')),
      says('system', text('s')),
    ],
  },
  'several texts': { messages: [says('system', text('a'), text('b')), says('user', text('c'), text('d'))] },
  'tool turn': {
    messages: [
      says('user', text('Hi')),
      says('assistant', thought, { ...stopCall, signature: 'sealed', provider: 'Entry' }),
      says('tool', { type: 'tool-result', toolCallId: 'call_abc', toolName: 'stop', result: { done: true } }),
    ],
  },
  'generated image': {
    messages: [
      says('user', text('Draw')),
      says('assistant', text('Here.'), {
        type: 'image',
        image: `data:image/png;base64,${pixel}`,
        mimeType: 'image/png',
      }),
      says('user', text('Bluer')),
    ],
  },
}

describe.each(Object.entries(kinds))('%s', (_kind, wire) => {
  it.each(answerCases.filter((name) => typeof wire.answers[name] !== 'string'))('reads an answer: %s', (name) =>
    checkAnswer(wire, wire.answers[name] as AnswerWire),
  )

  it.each(Object.entries(wire.reasons))('maps the ending %s to %s', async (reason, finishReason) => {
    fake.enqueue(sent(wire.ending(reason)))
    expect(toldBy(await chunksOf(call(wire)))).toMatchObject({ finishReason })
  })

  it.each(failureCases)('reports the failure: %s', (name) => checkFailure(wire, wire.failures[name]))

  it.each(requestCases)('sends a request: %s', async (name) => {
    const form = wire.requests[name]
    const before = fake.requests.length
    if (form instanceof Error) {
      const failure = await failureOf(call(wire, asked[name]))
      expect(failure).toMatchObject({ kind: 'unsupported', message: `Provider 'Entry' ${form.message}` })
      expect(fake.requests).toHaveLength(before)
      return
    }
    await chunksOf(call(wire, asked[name]))
    const { model: _model, messages, input, ...rest } = fake.requests[before]?.body ?? {}
    // Settings must match the whole body. Other cases compare only their own keys.
    if (name === 'settings') expect(rest).toEqual(form)
    else expect({ messages, input, ...rest }).toMatchObject(form)
  })
})

it.each([
  ['azure', azure, 'gpt-4o-2024-08-06'],
  ['azure by Responses', responsesOfAzure(), 'gpt-5-2025-08-07'],
  ['openai', openai, undefined],
])('%s: reports the model that answered if a deployment was requested', async (_name, wire, served) => {
  const { frames, plain } = wire.answers.text as AnswerWire
  fake.enqueue(sent(frames), { status: 200, body: plain })
  for (const stream of [true, false]) {
    const last = (await chunksOf(call(wire, { stream }))).at(-1)
    expect(last?.type === 'finish' ? last.servedModel : last).toBe(served)
  }
})

function responsesOfAzure(): KindWire {
  const { frames, plain } = responses.answers.text as AnswerWire
  const model = 'gpt-5-2025-08-07'
  const end = { type: 'response.completed', response: { ...plain, model } }
  const text = {
    frames: [...frames.slice(0, -1), end],
    plain: { ...plain, model },
    told: { finishReason: 'stop' as const },
  }
  const provider = { kind: 'azure', configuration: { endpoint: 'responses' } }
  return { ...responses, provider, answers: { ...responses.answers, text } }
}

it('matches docs/protocols.md', async () => {
  const page = await readFile(new URL('../../../../docs/protocols.md', import.meta.url), 'utf8')
  const start = page.indexOf('| feature |')
  expect(page.slice(start, page.indexOf('\n\n', start))).toBe(featureRows(kinds))
})
