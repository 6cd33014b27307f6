import { expect, test } from 'vitest'
import { sampleOf } from '../samples/index.ts'
import { LatitudeEvent, ProviderEvent, RunEvent, RunResponse } from '../src/index.ts'

const completed = LatitudeEvent.parse(sampleOf('LatitudeEvent')?.valid)
const { timestamp, uuid, messages, providerLogUuid, source } = completed
const every = { timestamp, uuid, messages, providerLogUuid, source }
const failure = sampleOf('RunFailure')?.valid
const usage = sampleOf('Usage')?.valid
const response = sampleOf('RunResponse')?.valid
const call = { toolCallId: 'a', toolName: 'find', args: { q: 1 } }

const latitudeEvents = [
  { type: 'chain-started', ...every },
  { type: 'step-started', ...every },
  { type: 'provider-started', ...every, config: { model: 'gpt-4o' } },
  { type: 'provider-completed', ...every, response, tokenUsage: usage, finishReason: 'stop' },
  { type: 'step-completed', ...every },
  { type: 'tools-requested', ...every, tools: [{ id: 'a', name: 'find', arguments: {} }] },
  completed,
  { type: 'chain-error', ...every, error: failure, tokenUsage: usage, cost: 0 },
]

const providerEvents = [
  { type: 'start-step', step: 1 },
  { type: 'reasoning-delta', id: 'r-0', text: 'Hm' },
  { type: 'text-delta', id: 'txt-0', textDelta: 'Hi' },
  { type: 'tool-input-start', id: 'a', toolName: 'find' },
  { type: 'tool-input-delta', id: 'a', delta: '{"q"' },
  { type: 'tool-call', ...call, _sourceData: { source: 'client' } },
  { type: 'tool-result', ...call, result: null, isError: false },
  { type: 'tool-error', ...call, error: 'timed out' },
  { type: 'source', url: 'https://example.com', title: 'Example' },
  { type: 'file', url: 'data:image/png;base64,aGk=', mimeType: 'image/png' },
  { type: 'finish-step', finishReason: 'stop', usage },
  { type: 'finish', finishReason: 'stop', usage },
  { type: 'error', error: { message: 'overloaded', status: 529 } },
]

const typesOf = (union: typeof LatitudeEvent | typeof ProviderEvent) =>
  union.options.map((option) => [...option.shape.type.values][0]).sort()

test.each(latitudeEvents)('latitude-event $type passes unchanged', (data) => {
  expect(RunEvent.parse({ event: 'latitude-event', data })).toEqual({ event: 'latitude-event', data })
  expect(ProviderEvent.safeParse(data).success).toBe(false)
})

test.each(providerEvents)('provider-event $type passes unchanged', (data) => {
  expect(RunEvent.parse({ event: 'provider-event', data })).toEqual({ event: 'provider-event', data })
  expect(RunEvent.safeParse({ event: 'latitude-event', data }).success).toBe(false)
})

test('the samples cover every event type', () => {
  expect(latitudeEvents.map(({ type }) => type).sort()).toEqual(typesOf(LatitudeEvent))
  expect(providerEvents.map(({ type }) => type).sort()).toEqual(typesOf(ProviderEvent))
})

test.each(Object.keys(every))('every event of a run requires %s', (key) => {
  const { [key]: _removed, ...without }: Record<string, unknown> = { type: 'chain-started', ...every }
  expect(LatitudeEvent.safeParse(without).error?.issues[0]?.path).toEqual([key])
})

test.each(['url', 'mimeType'])('a file without %s is refused', (key) => {
  const file = { type: 'file', url: 'https://example.com/a.png', mimeType: 'image/png', [key]: undefined }
  expect(ProviderEvent.safeParse(file).error?.issues[0]?.path).toEqual([key])
})

test('an unknown event or type is refused at the discriminator', () => {
  expect(LatitudeEvent.safeParse({ type: 'run-queued', ...every }).error?.issues[0]?.path).toEqual(['type'])
  expect(RunEvent.safeParse({ event: 'other', data: {} }).error?.issues[0]?.path).toEqual(['event'])
})

test('an object response has no tool calls', () => {
  const object = { ...RunResponse.parse(response), streamType: 'object', object: [] }
  expect(RunResponse.safeParse(object).success).toBe(true)
  const calls = [{ id: 'a', name: 'find', arguments: {} }]
  expect(RunResponse.safeParse({ ...object, toolCalls: calls }).error?.issues[0]?.path).toEqual(['toolCalls'])
})
