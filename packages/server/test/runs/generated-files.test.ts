/** Images that a model makes: shown as they arrive, stored in the conversation, and shown to the model again. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { FakeReplyFor } from '../support/fake-provider.ts'
import { prompt, type RunBench, runBench, userMessage } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    draw: prompt('<user>Draw a dot.</user>'),
    chain: prompt(
      '<step raw="drawn">\n<user>Draw a dot.</user>\n</step>\n<step>\n<user>Now describe it.</user>\n</step>\n' +
        '<user>Compare <content-image>{{ drawn.content[1].image }}</content-image></user>\n',
    ),
    repeated: prompt(
      '<step raw="drawn">\n<user>Draw a dot.</user>\n</step>\n' +
        '<user>{{ for round in times }}{{ drawn.content[1].image }} {{ endfor }}' +
        '{{ for round in parts }}<content-image>{{ drawn.content[1].image }}</content-image>{{ endfor }}</user>\n',
    ),
    elsewhere: prompt(
      '<step>\n<user>Draw a dot.</user>\n</step>\n<step provider="deep">\n<user>Now describe it.</user>\n</step>\n',
    ),
  })
  const deep = { name: 'deep', provider: 'deepseek', token: 'sk-0123456789abcdef' }
  expect(await bench.api('POST', '/provider-api-keys', { body: deep })).toMatchObject({ status: 201 })
})
afterAll(() => bench.close())

const dot = 'data:image/png;base64,iVBORw0KGgo='
/** A stream has the image between two texts; a plain message has it after its text. */
const drawing =
  (url = dot): FakeReplyFor =>
  ({ body }) => {
    const images = [{ type: 'image_url', image_url: { url } }]
    const message = { role: 'assistant', content: 'Here: a dot.', images }
    if (body['stream'] !== true) return { status: 200, body: { choices: [{ message, finish_reason: 'stop' }] } }
    return { raw: [...[{ content: 'Here: ' }, { images }, { content: 'a dot.' }].map(frame), 'data: [DONE]\n\n'] }
  }
const frame = (delta: unknown) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
const image = { type: 'image', image: dot, mimeType: 'image/png' }
const drawn = { role: 'assistant', content: [{ type: 'text', text: 'Here: a dot.' }, image] }
const drawnInPlace = {
  role: 'assistant',
  content: [{ type: 'text', text: 'Here: ' }, image, { type: 'text', text: 'a dot.' }],
}
const sentLast = () => bench.fake.requests.at(-1)?.body['messages']
const seenByModel = (url = dot) => [
  { role: 'user', content: 'Draw a dot.' },
  { role: 'assistant', content: 'Here: a dot.' },
  { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
]

it('are an event in order, and a part of the message', async () => {
  bench.fake.enqueue(drawing())
  const recording = await bench.stream('draw')
  expect(recording.types.slice(3, -3)).toEqual([
    '·start-step',
    '·text-delta',
    '·file',
    '·text-delta',
    '·finish-step',
    '·finish',
  ])
  expect(recording.events[5]?.data).toEqual({ type: 'file', url: dot, mimeType: 'image/png' })
  expect(recording.last).toMatchObject({ messages: [{}, drawnInPlace], response: { text: 'Here: a dot.' } })
  expect((await bench.streamAttach(String(recording.last['uuid']))).text).toBe(recording.text)
})

it('come back with the conversation, and are shown to the model in a chat', async () => {
  bench.fake.enqueue(drawing())
  const { body } = await bench.run('draw')
  expect(body).toMatchObject({ conversation: [{}, drawn], response: { text: 'Here: a dot.', output: [drawn] } })
  expect(await bench.conversation(body['uuid'])).toMatchObject({ conversation: [{}, drawn] })
  bench.fake.enqueue({ text: 'Blue.' })
  expect(await bench.chat(body['uuid'], { messages: [userMessage('Bluer')] })).toMatchObject({ status: 200 })
  expect(sentLast()).toEqual([...seenByModel(), { role: 'user', content: 'Bluer' }])
  // Everything that the API returns can be sent back.
  bench.fake.enqueue({ text: 'Fine.' })
  expect(await bench.run('draw', { messages: body['conversation'] })).toMatchObject({ status: 200 })
})

it('are shown to the next step of a chain, at any size', async () => {
  const large = `data:image/png;base64,${'A'.repeat(2_500_000)}`
  bench.fake.enqueue(drawing(large), { text: 'A dot.' }, { text: 'The same.' })
  const { status, body } = await bench.run('chain')
  expect(status, JSON.stringify(body).slice(0, 500)).toBe(200)
  expect(sentLast()).toEqual([
    ...seenByModel(large),
    { role: 'user', content: 'Now describe it.' },
    { role: 'assistant', content: 'A dot.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Compare' },
        { type: 'image_url', image_url: { url: large } },
      ],
    },
  ])
})

it('can be repeated by a prompt, within limits', async () => {
  const megabyte = `data:image/png;base64,${'A'.repeat(1024 * 1024)}`
  const repeat = (times: number, parts: number, ...replies: FakeReplyFor[]) => {
    bench.fake.enqueue(drawing(megabyte), ...replies)
    const list = (length: number) => Array.from({ length }, () => 0)
    return bench.run('repeated', { parameters: { times: list(times), parts: list(parts) } })
  }
  const calls = bench.fake.requests.length
  const failure = { errorCode: 'ai_run_error', message: 'The prompt repeats its files beyond 32 MB' }
  // Small as placeholders. With the files inserted: one text of 3 GB, or 40 images of 1 MB.
  expect(await repeat(3_000, 0)).toMatchObject({ status: 422, body: failure })
  expect(await repeat(0, 40)).toMatchObject({ status: 422, body: failure })
  expect(bench.fake.requests.length).toBe(calls + 2)
  expect((await repeat(2, 0, () => ({ text: 'Twice.' }))).status).toBe(200)
  const [sent] = (sentLast() as { content: string }[]).slice(-1)
  expect(sent?.content.trim() === `${megabyte} ${megabyte}`).toBe(true)
})

it('end a run before the call if the next model takes no files', async () => {
  bench.fake.enqueue(drawing())
  const { status, body } = await bench.run('elsewhere')
  expect(status).toBe(422)
  expect(body).toMatchObject({
    errorCode: 'ai_run_error',
    message: "Provider 'deep' takes no image parts in any message",
  })
})

it('are omitted for legacy clients without such a part', async () => {
  bench.fake.enqueue(drawing())
  const { last } = await bench.stream('draw', {}, { 'x-latitude-sdk-version': '5.2.0' })
  const texts = drawnInPlace.content.filter(({ type }) => type === 'text')
  expect(last).toMatchObject({ messages: [{}, { role: 'assistant', content: texts }] })
})

it('content of an unsupported type is an error that names it and keeps the text so far', async () => {
  const frames = [{ content: 'Listen: ' }, { audio: { id: 'a', data: 'AAAA' } }]
  bench.fake.enqueue({ raw: frames.map(frame) })
  const { last, types } = await bench.stream('draw')
  expect(last).toMatchObject({
    type: 'chain-error',
    error: { code: 'unsupported_provider_response_type_error', details: { type: 'audio' } },
    messages: [{}, { role: 'assistant', content: [{ type: 'text', text: 'Listen: ' }] }],
  })
  expect(types.slice(-2)).toEqual(['·error', 'chain-error'])
})
