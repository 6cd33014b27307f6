import { describe, expect, test } from 'vitest'
import { ChatBody, LIMITS, Message, MessageInput } from '../src/index.ts'

const firstPath = (value: unknown) => MessageInput.safeParse(value).error?.issues[0]?.path
const call = { type: 'tool-call', toolCallId: 'a', toolName: 'find', args: { q: 1 } }
const result = { type: 'tool-result', toolCallId: 'a', toolName: 'find', result: 'ok' }

describe('a message in a request', () => {
  const hi = { type: 'text', text: 'Hi' }
  const toolCalls = [{ id: 'a', name: 'find', arguments: { q: 1 } }]
  const { args: _args, ...withoutArgs } = call
  const { result: _result, ...withoutResult } = result
  const image = { type: 'image', image: 'aGk=' }
  const marked = { role: 'user', cache_control: { type: 'ephemeral' }, content: [{ ...hi, mark: null }] }

  test.each<[name: string, sent: object, content: object[]]>([
    ['plain text', { role: 'user', content: 'Hi' }, [hi]],
    ['text under content', { role: 'system', content: [{ type: 'text', content: 'Hi' }] }, [hi]],
    ['both keys, as attach writes them', { role: 'assistant', content: [{ ...hi, content: 'Hi' }] }, [hi]],
    ['toolArguments', { role: 'assistant', content: [{ ...withoutArgs, toolArguments: { q: 1 } }] }, [call]],
    ['toolCalls beside the content', { role: 'assistant', content: '', toolCalls }, [{ type: 'text', text: '' }, call]],
    ['toolCalls that the content holds already', { role: 'assistant', content: [call], toolCalls }, [call]],
    [
      'the PromptL form of a tool message',
      { role: 'tool', toolId: 'a', toolName: 'find', content: [{ type: 'text', text: 'ok' }] },
      [result],
    ],
    ['a result that is absent', { role: 'tool', content: [withoutResult] }, [{ ...result, result: null }]],
    ['null for optional keys', { role: 'user', name: null, content: [{ ...image, mimeType: null }] }, [image]],
    ['keys that stet does not know', marked, marked.content],
  ])('%s', (_name, sent, content) => {
    const { toolCalls: _calls, toolId: _id, toolName: _tool, name: _user, ...others } = sent as Record<string, unknown>
    const read = { ...others, content }
    const parsed = MessageInput.parse(sent)
    expect(parsed).toEqual(read)
    // The parsed message equals the returned one and is a valid request.
    expect(Message.parse(parsed)).toEqual(read)
    expect(MessageInput.parse(parsed)).toEqual(read)
  })

  test.each([
    ['an unknown role', { role: 'robot', content: 'Hi' }, ['role']],
    ['no content', { role: 'user' }, ['content']],
    ['null content', { role: 'user', content: null }, ['content']],
    ['an unknown part', { role: 'user', content: [{ type: 'video' }] }, ['content', 0, 'type']],
    ['a part of another role', { role: 'user', content: [call] }, ['content', 0, 'type']],
    ['an image for the system', { role: 'system', content: [{ type: 'image', image: 'x' }] }, ['content', 0, 'type']],
    ['text as a tool result', { role: 'tool', content: 'ok' }, ['content', 0, 'type']],
    ['a tool message without a name', { role: 'tool', toolId: 'a', content: 'ok' }, ['content', 0, 'toolName']],
    ['arguments that are no object', { role: 'assistant', content: [{ ...call, args: '{}' }] }, ['content', 0, 'args']],
    ['toolCalls that are no list', { role: 'assistant', content: 'Hi', toolCalls: {} }, ['toolCalls']],
    [
      'a file without a type',
      { role: 'user', content: [{ type: 'file', file: 'x', mimeType: null }] },
      ['content', 0, 'mimeType'],
    ],
    ['a text part without text', { role: 'user', content: [{ type: 'text' }] }, ['content', 0, 'text']],
    ['no message at all', 'Hi', []],
  ])('refuses %s, at its place', (_name, sent, path) => {
    expect(firstPath(sent)).toEqual(path)
  })

  test('limits tool payloads to 256 KB of UTF-8', () => {
    const fits = 'é'.repeat((LIMITS.toolPayloadBytes - 2) / 2)
    const withResult = (value: string) => ({ role: 'tool', content: [{ ...result, result: value }] })
    const withArgs = (value: string) => ({ role: 'assistant', content: [{ ...call, args: { [value]: 1 } }] })
    expect(firstPath(withResult(fits))).toBeUndefined()
    expect(firstPath(withResult(`${fits}x`))).toEqual(['content', 0, 'result'])
    expect(firstPath(withArgs(fits))).toEqual(['content', 0, 'args'])
  })
})

test('a chat accepts 1 to 1,000 messages', () => {
  const many = (length: number) => ({ messages: Array.from({ length }, () => ({ role: 'user', content: 'Hi' })) })
  expect(ChatBody.safeParse(many(0)).success).toBe(false)
  expect(ChatBody.safeParse(many(1_000)).success).toBe(true)
  expect(ChatBody.safeParse(many(1_001)).error?.issues[0]?.path).toEqual(['messages'])
})
