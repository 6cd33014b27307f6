import { expect, test } from 'vitest'
import { blockSize, piecesOf } from './message-text.ts'

const dataUrl = `data:image/png;base64,${'A'.repeat(40_000)}`

test('a data URL is a piece of its own and does not count', () => {
  const { pieces, isCut } = piecesOf(`See ${dataUrl} there`, 10)
  expect(pieces.map((piece) => piece.dataUrl ?? piece.text)).toEqual(['See ', dataUrl, ' there'])
  expect(isCut).toBe(false)
})

test('a long text is cut at the limit, and complete without one', () => {
  const long = 'a line of text\n'.repeat(10_000)
  const textOf = (limit: number) =>
    piecesOf(long, limit)
      .pieces.map(({ text }) => text)
      .join('')
  expect(piecesOf(long, 100)).toEqual({ pieces: [{ at: 0, text: long.slice(0, 100) }], isCut: true })
  expect(piecesOf(`${'a'.repeat(20)}${dataUrl}`, 10).pieces).toHaveLength(1)
  expect(textOf(Number.POSITIVE_INFINITY)).toBe(long)
})

test('pieces end at line ends, and inside a line only if it is very long', () => {
  const { pieces } = piecesOf('a line of text\n'.repeat(5000), Number.POSITIVE_INFINITY)
  expect(pieces.length).toBeGreaterThan(3)
  expect(pieces.every(({ text }) => text.endsWith('\n') && text.length < blockSize * 1.1)).toBe(true)
  const line = piecesOf('x'.repeat(blockSize * 9), Number.POSITIVE_INFINITY)
  expect(line.pieces.map(({ text }) => text.length / blockSize)).toEqual([4, 4, 1])
})

test('hidden characters have signs', () => {
  expect(piecesOf('Open \u202egnp.exe\u001b', 100).pieces).toEqual([{ at: 0, text: 'Open •gnp.exe␛' }])
})
