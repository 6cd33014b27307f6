/** Readers of answers as services really send them. `kinds` has the answers that every kind gives. */
import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import type { AnswerReader } from '../../src/adapters/providers/answer/frames.ts'
import { streamChunks } from '../../src/adapters/providers/answer/stream.ts'
import { MessageReader } from '../../src/adapters/providers/anthropic/answer.ts'
import { ChatReader } from '../../src/adapters/providers/openai/chat/answer.ts'
import { ResponseReader } from '../../src/adapters/providers/openai/responses/answer.ts'
import { providerLimits } from '../../src/adapters/providers/transport/transport.ts'
import type { ModelChunk } from '../../src/features/providers/model-driver.ts'
import { providerAt, serviceOf, textOf } from '../support/model-request.ts'
import { anthropicCases, wholeMessage } from './answers/anthropic.ts'
import { chatCases, wholeChat } from './answers/chat.ts'
import { calls, says, usage } from './answers/chat-frames.ts'
import { responsesCases, wholeResponse } from './answers/responses.ts'
import {
  type AnswerCase,
  bytesOf,
  bytesSent,
  type Cases,
  done,
  expected,
  type Frame,
  type Json,
  outcomeOf,
} from './answers/shape.ts'

type ReaderOf = (one?: Partial<AnswerCase>) => AnswerReader
const providerOf = (kind = 'openai') => providerAt(null, { name: 'Main', kind })
const weather = { name: 'weather', description: '', parameters: {} }
const offered = ({ hasTools, settings = {}, schema }: Partial<AnswerCase>) => ({
  settings,
  ...(schema && { schema }),
  tools: hasTools ? [weather] : [],
})
const chat: ReaderOf = (one = {}) => new ChatReader(serviceOf(providerOf(one.kind)), offered(one))
const responses: ReaderOf = () => new ResponseReader(serviceOf(providerOf()))
const messages: ReaderOf = (one = {}) => new MessageReader(providerOf('anthropic'), offered(one))

const protocols: [string, Cases[], ReaderOf][] = [
  ['chat', chatCases, chat],
  ['responses', responsesCases, responses],
  ['anthropic', anthropicCases, messages],
]

describe.each(protocols)('%s', (_protocol, tables, readerOf) => {
  it.each(tables.flatMap((cases) => Object.entries(cases)))('%s', async (_name, one) => {
    const bytes = bytesSent(one)
    for (let at = one.isSplit ? 1 : bytes.length; at <= bytes.length; at += 1) {
      const pieces = [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0)
      expect(await outcomeOf(one, readerOf(one), pieces), String(at)).toMatchObject(expected(one))
    }
    if (/^[{[]/.test(bytes.toString())) expect(await outcomeOf(one, readerOf(one))).toMatchObject(expected(one))
  })
})

async function readPieces(reader: AnswerReader, pieces: readonly Uint8Array[]): Promise<ModelChunk[]> {
  const seen: ModelChunk[] = []
  await streamChunks(Readable.from(pieces), reader, providerLimits, (batch) => void seen.push(...batch))
  return seen
}

describe.each<[string, ReaderOf, { sent: Frame[]; chunks: object[] }, number]>([
  ['chat', chat, wholeChat, 2],
  ['responses', responses, wholeResponse, 1],
  ['anthropic', messages, wholeMessage, 2],
])('stream in pieces: %s', (_protocol, readerOf, { sent, chunks }, ending) => {
  it('is the same in single bytes', async () => {
    const bytes = Array.from(bytesOf(sent), (byte) => Buffer.of(byte))
    expect(await readPieces(readerOf(), bytes)).toMatchObject(chunks)
  })

  it('fails if it is cut off after any frame before its end', async () => {
    for (let whole = 1; whole < sent.length - ending; whole += 1) {
      const part = bytesOf(sent.slice(0, whole))
      // The finish reason of chat completions completes an answer.
      if (part.includes('"finish_reason":"tool_calls"')) continue
      await expect(readPieces(readerOf(), [part.subarray(0, -5)])).rejects.toMatchObject({ kind: 'malformed' })
    }
  })
})

it('accepts a frame with a whole image, but no larger frame', async () => {
  const typesOf = async (megabytes: number) => {
    const url = `data:image/png;base64,${'A'.repeat(megabytes * 1_000_000)}`
    const delta = { content: 'See', images: [{ type: 'image_url', image_url: { url } }] }
    const bytes = bytesOf([{ choices: [{ index: 0, delta, finish_reason: 'stop' }] }])
    const pieces = Array.from({ length: megabytes + 1 }, (_, at) =>
      bytes.subarray(at * 1_000_000, (at + 1) * 1_000_000),
    )
    return (await readPieces(chat(), pieces)).map(({ type }) => type)
  }
  expect(await typesOf(6)).toEqual(['text-delta', 'file', 'finish'])
  await expect(typesOf(17)).rejects.toMatchObject({ kind: 'malformed' })
})

it('is not certain of an end whose finish reason comes before or beside content', () => {
  const after = (...frames: Json[]) => {
    const reader = chat()
    for (const frame of frames) reader.readFrame(frame, [], undefined)
    return { isEnding: reader.isEnding, isEndCertain: reader.isEndCertain }
  }
  expect(after(says('', 'stop'))).toEqual({ isEnding: true, isEndCertain: false })
  expect(after(says('First half', 'stop'))).toEqual({ isEnding: true, isEndCertain: false })
  expect(after(says('All'), says('', 'stop'))).toEqual({ isEnding: true, isEndCertain: true })
  expect(after(says('All', 'stop'), usage(1, 1))).toEqual({ isEnding: true, isEndCertain: true })
})

it('completes a response of many messages in time that grows with their number', () => {
  const ofItems = (length: number) => {
    const content = [{ type: 'output_text', text: 'x'.repeat(100) }]
    const output = Array.from({ length }, () => ({ type: 'message', content }))
    const begunAt = process.cpuUsage()
    new ResponseReader(serviceOf(providerOf())).readPlain({ status: 'completed', output }, [])
    const { user, system } = process.cpuUsage(begunAt)
    return user + system
  }
  const least = (length: number) => Math.min(...Array.from({ length: 5 }, () => ofItems(length)))
  // The square would be 64 times as much.
  expect(least(16_000)).toBeLessThan(32 * Math.max(least(2_000), 500))
})

it.each([
  ['their indexes', '0 a weather & 1 b stop', '0 - - ,{"a":{}} & 1 - - ,{"a":"}"}'],
  ['their positions', '- a weather & - b stop', '- - - ,{"a":{}} & - - - ,{"a":"}"}'],
])('assigns the fragments of two calls by %s without parsing all arguments again', (_by, heads, more) => {
  const reader = chat()
  const read = (text: string) => calls(text).forEach((frame) => void reader.readFrame(frame, [], undefined))
  read(heads)
  read('0 a - {"list":[0 & 1 b - {"list":[0')
  const parse = vi.spyOn(JSON, 'parse')
  for (let deltas = 0; deltas < 100; deltas += 1) read(more)
  const parses = parse.mock.calls.length
  parse.mockRestore()
  expect(parses).toBe(0)
})

describe('backpressure', () => {
  const piece = (text: string) => bytesOf([says(text)])

  it('pauses the provider, and then delivers the whole answer in order', async () => {
    const body = new Readable({ read: () => undefined })
    const seen: ModelChunk[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const whole = streamChunks(body, chat(), providerLimits, (batch) => {
      seen.push(...batch)
      return gate
    })
    body.push(piece('0'))
    await expect.poll(() => body.isPaused()).toBe(true)
    for (let pieces = 1; pieces < 99; pieces += 1) body.push(piece(`,${pieces}`))
    body.push(done)
    body.push(null)
    expect(textOf(seen)).toBe('0')
    expect(body.readableLength).toBeGreaterThan(1_000)
    open()
    await whole
    expect(textOf(seen)).toBe(Array.from({ length: 99 }, (_, index) => index).join())
    expect(seen.at(-1)?.type).toBe('finish')
  })

  it('processes waiting chunks before it reports a failure', async () => {
    const body = new Readable({ read: () => undefined })
    let taken = false
    const failing = streamChunks(body, chat(), providerLimits, async () => {
      body.destroy()
      await new Promise((resolve) => body.on('close', resolve))
      taken = true
    })
    body.push(piece('last'))
    await expect(failing).rejects.toMatchObject({ kind: 'unavailable' })
    expect(taken).toBe(true)
  })
})
