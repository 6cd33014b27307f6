/** Reads the stream with the AI SDK's own transport and message reader. A chunk that they reject or ignore is a bug. */
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { describe, expect, it } from 'vitest'
import { toUIMessageStream, toUIMessageStreamResponse, type UIMessageOptions } from '../../src/ai/index.ts'
import { RunStream, type StreamEvent } from '../../src/index.ts'
import { events, sseResponse } from '../../src/testing/index.ts'
import { USAGE } from '../support/sample-run.ts'

const UUID = 'b7c9a1de-1111-4222-8333-444455556666'

function event(data: { type: string; [key: string]: unknown }): StreamEvent {
  return { id: '', event: 'provider-event', type: data.type, data } as StreamEvent
}

function runOf(...middle: { type: string; [key: string]: unknown }[]): RunStream {
  const whole = events('', { uuid: UUID })
  const at = whole.findIndex(({ type }) => type === 'text-delta')
  const all = [...whole.slice(0, at), ...middle.map(event), ...whole.slice(at + 1)]
  return RunStream.fromResponse(sseResponse(all, { ids: false }))
}

/** Returns the chunks from the AI SDK's transport and the message that it builds. */
async function seen(
  run: RunStream,
  o: UIMessageOptions = {},
): Promise<{ chunks: UIMessageChunk[]; message: UIMessage | undefined }> {
  const transport = new DefaultChatTransport({
    api: 'http://page.invalid',
    fetch: async () => toUIMessageStreamResponse(run, o),
  })
  const stream = await transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'c',
    messageId: undefined,
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    abortSignal: undefined,
  })
  const chunks: UIMessageChunk[] = []
  const kept = stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        chunks.push(chunk)
        controller.enqueue(chunk)
      },
    }),
  )
  let message: UIMessage | undefined
  for await (const next of readUIMessageStream({ stream: kept, onError: () => {} })) message = next
  return { chunks, message }
}

describe('a run as a message stream', () => {
  it('converts a run to text, with the conversation in its metadata', async () => {
    const run = RunStream.fromResponse(sseResponse(events(['Hel', 'lo'], { uuid: UUID })))
    const { message, chunks } = await seen(run)
    expect(chunks.map(({ type }) => type)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
    expect(message).toMatchObject({
      role: 'assistant',
      metadata: { conversationUuid: UUID, finishReason: 'stop', usage: { totalTokens: 0 } },
      parts: [{ type: 'step-start' }, { type: 'text', text: 'Hello', state: 'done' }],
    })
  })

  it('separates reasoning from the text', async () => {
    const { message } = await seen(
      runOf(
        { type: 'reasoning-delta', id: 'r', text: 'Well' },
        { type: 'reasoning-delta', id: 'r', text: '…' },
        { type: 'text-delta', id: 't', textDelta: 'Yes' },
      ),
    )
    expect(message?.parts.slice(1)).toMatchObject([
      { type: 'reasoning', text: 'Well…', state: 'done' },
      { type: 'text', text: 'Yes', state: 'done' },
    ])
  })

  it('includes tool calls with their results, over several model calls', async () => {
    const client = { _sourceData: { source: 'client' } }
    const { message, chunks } = await seen(
      runOf(
        { type: 'tool-input-start', id: 'a', toolName: 'weather' },
        { type: 'tool-input-delta', id: 'a', delta: '{"city":' },
        { type: 'tool-input-delta', id: 'a', delta: '"Rome"}' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'weather', args: { city: 'Rome' }, ...client },
        { type: 'tool-call', toolCallId: 'b', toolName: 'search', args: {}, _sourceData: { source: 'serverTool' } },
        {
          type: 'tool-result',
          toolCallId: 'a',
          toolName: 'weather',
          args: {},
          result: { sky: 'blue' },
          isError: false,
        },
        { type: 'tool-result', toolCallId: 'b', toolName: 'search', args: {}, result: 'no luck', isError: true },
        { type: 'tool-error', toolCallId: 'c', toolName: 'weather', args: {}, error: 'The arguments are no JSON' },
        { type: 'finish-step', finishReason: 'tool-calls', usage: USAGE },
        { type: 'start-step', step: 2 },
        { type: 'text-delta', id: 't', textDelta: 'Blue.' },
      ),
    )
    expect(chunks.find(({ type }) => type === 'tool-input-delta')).toMatchObject({ inputTextDelta: '{"city":' })
    expect(message?.parts).toMatchObject([
      { type: 'step-start' },
      {
        type: 'tool-weather',
        toolCallId: 'a',
        state: 'output-available',
        input: { city: 'Rome' },
        output: { sky: 'blue' },
      },
      { type: 'tool-search', toolCallId: 'b', state: 'output-error', errorText: 'no luck', providerExecuted: true },
      { type: 'tool-weather', toolCallId: 'c', state: 'output-error', errorText: 'The arguments are no JSON' },
      { type: 'step-start' },
      { type: 'text', text: 'Blue.' },
    ])
  })

  it('includes tool results from a later round', async () => {
    const first = events('', { uuid: UUID })
    const call = {
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'weather',
      args: {},
      _sourceData: { source: 'client' },
    }
    const answered = events('Blue.', { uuid: UUID }).map((next) => {
      if (next.type !== 'chain-started') return next
      const part = { type: 'tool-result' as const, toolCallId: 'a', toolName: 'weather', result: 'blue' }
      return { ...next, data: { ...next.data, messages: [{ role: 'tool' as const, content: [part] }] } }
    })
    const turns = [...first.slice(0, 4), event(call), ...answered]
    const { message } = await seen(RunStream.fromResponse(sseResponse(turns, { ids: false })))
    expect(message?.parts.filter(({ type }) => type !== 'step-start')).toMatchObject([
      { type: 'tool-weather', state: 'output-available', output: 'blue' },
      { type: 'text', text: 'Blue.' },
    ])
  })

  it('includes sources and files with a URL', async () => {
    const { message } = await seen(
      runOf(
        { type: 'source', id: 's', url: 'https://example.com/a', title: 'A' },
        { type: 'source', id: 'u' },
        { type: 'file', url: 'data:text/plain;base64,YQ==', mimeType: 'text/plain' },
        { type: 'error', error: { message: 'a chain-error would follow' } },
        { type: 'something-new' },
      ),
    )
    expect(message?.parts.slice(1)).toEqual([
      { type: 'source-url', sourceId: 's', url: 'https://example.com/a', title: 'A' },
      { type: 'file', url: 'data:text/plain;base64,YQ==', mediaType: 'text/plain' },
    ])
  })

  it.each([
    [{}, /^The run failed$/],
    [{ expose: ['errors'] as const }, /The provider refused/],
  ])('ends a failed run with an error chunk after its partial output (%j)', async (options, text) => {
    const error = { code: 'ai_run_error', message: 'The provider refused' }
    const run = RunStream.fromResponse(sseResponse(events('Half', { uuid: UUID, error })))
    const { chunks, message } = await seen(run, options)
    expect(chunks.slice(-3)).toMatchObject([
      { type: 'text-end' },
      { type: 'finish-step' },
      { type: 'error', errorText: expect.stringMatching(text) },
    ])
    expect(message?.parts[1]).toMatchObject({ text: 'Half' })
  })

  it.each([
    [{}, /^The run could not be read$/],
    [{ expose: ['errors'] as const }, /No such prompt/],
  ])('ends with an error chunk if the run never started (%j)', async (options, text) => {
    const run = RunStream.fromResponse(new Response('{"message":"No such prompt"}', { status: 404 }))
    const { chunks } = await seen(run, options)
    expect(chunks).toMatchObject([{ type: 'start' }, { type: 'error', errorText: expect.stringMatching(text) }])
  })

  it('ends an aborted run with an abort chunk', async () => {
    const run = runOf({ type: 'text-delta', id: 't', textDelta: 'x' })
    run.detach()
    expect((await seen(run)).chunks.at(-1)).toEqual({ type: 'abort' })
  })
})

it('is also available as chunks', async () => {
  const types: string[] = []
  for await (const { type } of toUIMessageStream(RunStream.fromResponse(sseResponse(events('a'))))) types.push(type)
  expect([types[0], types.at(-1)]).toEqual(['start', 'finish'])
})

it('responds with the headers of the protocol and of the route', async () => {
  const run = RunStream.fromResponse(sseResponse(events('a')))
  const response = toUIMessageStreamResponse(run, {
    status: 201,
    headers: { 'X-Own': '1', 'Cache-Control': 'no-store' },
  })
  expect(response.status).toBe(201)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-vercel-ai-ui-message-stream': 'v1',
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-own': '1',
  })
  expect((await response.text()).endsWith('data: [DONE]\n\n')).toBe(true)
})
