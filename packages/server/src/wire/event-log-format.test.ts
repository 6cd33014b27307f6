import { expect, it } from 'vitest'
import type { LogEntry, StoredFrames, StoredLog } from '../features/runs/ports.ts'
import { entriesAfter, packEventLog, unpackEventLog } from './event-log-format.ts'
import { addFrame, encodeMessage } from './run-frames.ts'

const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Größe – 大きさ' }] }].map(
  encodeMessage,
)

const frame = (id: number, text: string) => `event: provider-event\ndata: ${JSON.stringify(text)}\nid: ${id}\n\n`

function bytesOf(entries: readonly (LogEntry | StoredFrames)[]): Buffer {
  const pieces: (string | Buffer)[] = []
  for (const entry of entries) addFrame(pieces, entry, messages)
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
}

async function packed(entries: readonly LogEntry[]): Promise<StoredLog> {
  const log = await unpackEventLog(await packEventLog({ messages, entries }))
  if (!log) throw new Error('The packed log has no known format')
  return log
}

it.each([[[]], [[0, 123, 125]], [[1, 3, 0]], [[255]]])('returns null for an unknown format: %j', async (bytes) => {
  expect(await unpackEventLog(Uint8Array.from(bytes))).toBeNull()
})

// Covers each packing method, and sizes on both sides of each threshold.
it.each([
  ['nothing', 0, 0],
  ['plain', 3, 50],
  ['packed in one step', 40, 500],
  ['packed in another thread', 40, 20_000],
  ['the largest packed as a whole', 1, 1_048_000],
  ['the smallest packed in pieces', 1, 1_049_000],
  ['many small entries packed in pieces', 12_000, 150],
  ['a few large entries packed in pieces', 6, 900_000],
])('unpacks the same event log that was packed: %s', async (_name, count, size) => {
  const entries: LogEntry[] = Array.from({ length: count }, (_, place) => ({
    id: place + 1,
    pieces: frame(place + 1, `${'ü'.repeat(size / 2)}${Math.random()}${'x'.repeat(size / 2)}`),
  }))
  const log = await packed(entries)
  expect(log.messages).toEqual(messages)
  expect(bytesOf(log.entries).equals(bytesOf(entries))).toBe(true)
})

it('continues after the last event that a reader has seen, and joins adjacent frames', async () => {
  const around = (id: number): LogEntry => ({
    id,
    pieces: ['event: latitude-event\ndata: [', [0, 1], `]\nid: ${id}\n\n`],
  })
  // These texts look like frame ends but do not end a frame.
  const text = (id: number) => `id: ${id}\n\n\nid: ${id + 1}\n\n大${'ü'.repeat(id % 3)}`
  const entries = Array.from({ length: 130 }, (_, place): LogEntry => {
    const id = place + 7
    return place % 50 === 0 ? around(id) : { id, pieces: frame(id, text(id)) }
  })
  // The end of an orphaned run leaves a gap in the event ids.
  entries.push(around(1_000_200))
  const log = await packed(entries)
  expect(log.entries.map(({ id }) => id)).toEqual([7, 8, 57, 58, 107, 108, 1_000_200])
  expect(log.entries.filter((entry) => 'pieces' in entry)).toEqual(
    entries.filter(({ pieces }) => Array.isArray(pieces)),
  )
  for (const afterId of [0, 6, ...entries.map(({ id }) => id), 500, 2_000_000]) {
    const rest = entries.filter(({ id }) => id > afterId)
    expect([afterId, bytesOf(entriesAfter(log, afterId)).toString()]).toEqual([afterId, bytesOf(rest).toString()])
  }
})
