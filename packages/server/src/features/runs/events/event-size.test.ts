/** Whether it is over after each of the texts. */
import { expect, it } from 'vitest'
import type { LogEntry } from '../ports.ts'
import { createEventSize } from './run-recorder.ts'

function overAfter(maxBytes: number, texts: readonly LogEntry['pieces'][]): boolean[] {
  const recorded: LogEntry[] = []
  const size = createEventSize(maxBytes, () => recorded)
  return texts.map((pieces, place) => {
    const entry = { id: place + 1, pieces }
    recorded.push(entry)
    size.add([entry])
    return size.isOver()
  })
}

it.each([
  ['ASCII', 'x', 1],
  ['two bytes', '\u00e9', 2],
  ['three bytes', '\u6f22', 3],
  ['four bytes', '\u{1f600}', 4],
])('is over with the first byte beyond the bound: %s', (_name, character, bytes) => {
  const texts = Array.from({ length: 40 }, () => character.repeat(5))
  const expected = texts.map((_text, place) => (place + 1) * 5 * bytes > 100)
  expect(overAfter(100, texts)).toEqual(expected)
})

it('counts the texts of an event and not the messages that it names', () => {
  expect(overAfter(10, [['abcd', [0, 9], 'efgh'], 'ij', 'k'])).toEqual([false, false, true])
})
