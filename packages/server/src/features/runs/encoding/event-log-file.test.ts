import { expect, it } from 'vitest'
import type { LogEntry } from '../ports.ts'
import { packEventLog, unpackEventLog } from './event-log-file.ts'
import { encodeMessage } from './message-list.ts'

const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Größe – 大きさ' }] }].map(
  encodeMessage,
)

// Each way to pack, and both sides of the sizes that part them.
it.each([
  ['nothing', 0, 0],
  ['plain', 3, 50],
  ['packed at once', 40, 500],
  ['packed in another thread', 40, 20_000],
  ['just packed whole', 1, 1_048_000],
  ['just packed in pieces', 1, 1_049_000],
  ['packed in pieces, many small ones', 12_000, 150],
  ['packed in pieces, few large ones', 6, 900_000],
])('a log comes back as it was: %s', async (_name, count, size) => {
  const entries: LogEntry[] = Array.from({ length: count }, (_, place) => ({
    id: place + 1,
    pieces: `${'ü'.repeat(size / 2)}${Math.random()}${'x'.repeat(size / 2)}`,
  }))
  const log = await unpackEventLog(await packEventLog(messages, entries))
  expect(log.messages).toEqual(messages)
  expect(JSON.stringify(log.entries) === JSON.stringify(entries)).toBe(true)
})
