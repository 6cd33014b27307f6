import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Message } from '../../templates/message.ts'
import { createMessageList, encodeMessage, resolveSlice } from './message-list.ts'

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

it('names messages by place, runs of them as one range, strangers by themselves', () => {
  const [a, b, c] = [says('a'), says('b'), says('c')] as const
  const list = createMessageList([a])
  list.append([b, c])
  expect(list.locate([a, b, c])).toEqual([[0, 3]])
  expect(list.locate([a, c])).toEqual([
    [0, 1],
    [2, 3],
  ])
  expect(list.locate([says('b'), says('x'), c])).toEqual([[1, 2], says('x'), [2, 3]])
})

it('every located item resolves to the requested one', () => {
  const message = fc.constantFrom('a', 'b', 'c', 'd').map(says)
  fc.assert(
    fc.property(fc.array(message), fc.array(message), (known, wanted) => {
      const list = createMessageList(known)
      expect(resolveSlice(list.locate(wanted), list.messages)).toEqual(wanted)
    }),
  )
})

it('encodes the form for declared callers only where it differs', () => {
  const plain = encodeMessage(says('a'))
  expect(plain.declared).toBe(plain.whole)
  const answer: Message = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'redacted-reasoning', data: 'x' },
      { type: 'text', text: 'yes' },
    ],
    extra: 1,
  }
  expect(JSON.parse(encodeMessage(answer).declared)).toEqual({
    role: 'assistant',
    content: [{ type: 'text', text: 'yes' }],
    extra: 1,
  })
  expect(JSON.parse(encodeMessage({ ...says('a'), role: 'developer' }).declared)).toMatchObject({ role: 'system' })
})

it('shows legacy clients only the parts that their models accept, by role', () => {
  const image = { type: 'image', image: 'https://example.com/a.png' } as const
  const text = { type: 'text', text: 'a' } as const
  const shown = (role: Message['role']) => JSON.parse(encodeMessage({ role, content: [text, image] }).declared).content
  expect(shown('user')).toEqual([text, image])
  expect(shown('assistant')).toEqual([text])
  expect(shown('system')).toEqual([text])
  expect(shown('developer')).toEqual([text])
})
