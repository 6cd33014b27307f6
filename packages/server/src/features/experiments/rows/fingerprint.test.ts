import type { Message } from '@stet/contract/vocabulary'
import { expect, test } from 'vitest'
import { attemptUuid, contentKeyOf, itemUuid, type RowInputs, rowHashOf } from './fingerprint.ts'

const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
const row: RowInputs = { parameters: { a: 1, b: 2 }, messages, toolResults: {} }

test('the hash of a row changes with what the run receives, in stored order', () => {
  const others = [
    { ...row, parameters: { a: 1, b: 3 } },
    { ...row, parameters: { b: 2, a: 1 } },
    { ...row, messages: [] },
    { ...row, toolResults: { search: [] } },
  ]
  expect(new Set([row, ...others].map(rowHashOf)).size).toBe(5)
})

test('the order of rows does not make another experiment, the order of arms and the trials do', () => {
  const [one, other] = [['1', 'a'] as const, ['2', 'b'] as const]
  const key = contentKeyOf(['x', 'y'], [one, other], 1)
  expect(contentKeyOf(['x', 'y'], [other, one], 1)).toBe(key)
  expect(contentKeyOf(['y', 'x'], [one, other], 1)).not.toBe(key)
  expect(contentKeyOf(['x', 'y'], [one, other], 2)).not.toBe(key)
  expect(contentKeyOf(['x', 'y'], [one, ['2', 'a']], 1)).not.toBe(key)
})

test('items and attempts have uuids of their own', () => {
  const items = [itemUuid('e', 0, 'x', 1), itemUuid('e', 1, 'x', 1), itemUuid('e', 0, 'x', 2), itemUuid('f', 0, 'x', 1)]
  expect(new Set([...items, attemptUuid('i', 1), attemptUuid('i', 2)]).size).toBe(6)
  expect(itemUuid('e', 0, 'x', 1)).toBe(items[0])
})
