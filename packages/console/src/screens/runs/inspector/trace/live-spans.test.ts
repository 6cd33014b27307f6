import type { Message, StreamEvent } from '@stet/sdk'
import { expect, test } from 'vitest'
import { callOf, callsIn } from '../messages/tool-calls.ts'
import { noEvents, withKept } from './kept-events.ts'
import { liveSpans } from './live-spans.ts'

const usage = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 0 }
const at = (ms: number, type: string, data: object = {}) => ({
  at: ms,
  event: { data: { type, ...data } } as StreamEvent,
})

test('the events of a run become its spans, and an open one reaches up to now', () => {
  const spans = liveSpans(
    [
      at(10, 'step-started'),
      at(12, 'provider-started', { config: { model: 'm' } }),
      at(20, 'tool-call', { toolCallId: 'one', toolName: 'find', _sourceData: { source: 'client' } }),
      at(30, 'provider-completed', { tokenUsage: usage }),
      at(40, 'tool-result', { toolCallId: 'one', isError: true }),
      at(41, 'provider-started', { config: { model: 'm' } }),
    ],
    'support/reply',
    50,
  )
  expect(spans).toEqual([
    { kind: 'step', name: 'support/reply', parent: null, startMs: 10, endMs: 50, status: 'ok' },
    { kind: 'model', name: 'm', parent: 0, startMs: 12, endMs: 30, status: 'ok', usage },
    { kind: 'wait', name: 'find', parent: 0, startMs: 20, endMs: 40, status: 'error' },
    { kind: 'model', name: 'm', parent: 0, startMs: 41, endMs: 50, status: 'ok' },
  ])
})

test('a span has the arguments and the result of its call, and those inside an agent have none', () => {
  const call = (toolCallId: string, toolName: string, args: Record<string, unknown>): Message => ({
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId, toolName, args }],
  })
  const calls = callsIn([
    call('1', 'find', { id: 1 }),
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 'find', result: 'found' }] },
    call('2', 'agent', {}),
    call('3', 'find', { id: 3 }),
  ])
  const span = (kind: 'step' | 'tool', name: string, parent: number | null) =>
    ({ kind, name, parent, startMs: 0, endMs: 1, status: 'ok' }) as const
  const spans = [
    span('tool', 'find', null),
    span('tool', 'agent', null),
    span('tool', 'find', 1),
    span('tool', 'find', null),
  ]
  expect(spans.map((_, place) => callOf(spans, place, calls)?.args)).toEqual([{ id: 1 }, {}, undefined, { id: 3 }])
  expect(callOf(spans, 0, calls)?.result).toBe('found')
})

test('events keep the messages that they repeat once, and no more than fits', () => {
  const event = (text: string, count: number) => {
    const messages = Array.from({ length: count }, () => ({ role: 'user', content: 'x'.repeat(1000) }))
    return {
      at: 0,
      event: { event: 'latitude-event', data: { type: 'step-started', text, messages } } as never as StreamEvent,
    }
  }
  const kept = withKept(withKept(noEvents, [event('a', 10)]), [event('b', 11), event('c', 11)])
  const [first, , last] = kept.events.map(({ event: { data } }) => Object(data).messages as readonly object[])
  expect(last).toHaveLength(11)
  expect(last?.[0]).toBe(first?.[0])
  expect(kept.size).toBeLessThan(12_000)
  const full = withKept({ ...kept, size: 40_000_000 }, [event('d', 1)])
  expect([full.isCut, full.events.length]).toEqual([true, 3])
})
