/** The file format of an ended run's event log. The file contains all frames and messages that a replay needs. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createDeflateRaw, deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib'
import type { Message } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { EventCodec, LogEntry, StoredFrames, StoredLog } from '../features/runs/ports.ts'
import { evenTexts, jsonPieces } from '../shared/json-limits.ts'
import { bytesOf, encodeEvent, encodeMessage, encodeResponse } from './run-frames.ts'

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)

/** The first byte of a stored event log: the format and compression. A new format uses new numbers. */
const packing = { plain: 2, deflated: 3 } as const

// Below this size, compression costs more than it saves.
const plainLimitBytes = 1_024
// Up to this size, compresses on this thread. For 10 KB, this took 25 µs of CPU; zlib's thread took 305 µs.
const sameThreadLimitBytes = 65_536
const options = { level: 3 }
// For small event logs, a better compression level saves only a few bytes but allocates more memory.
const smallOptions = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4_096 }
// Larger event logs are built and compressed in pieces. Otherwise the text would be in memory four times.
const wholeLimitCharacters = 1_048_576
// Small texts are joined, because each write costs a round trip to another thread.
const writeCharacters = 65_536

/** Refers to adjacent frames by their number of bytes. The frames follow the JSON line in the same order. */
interface FramePlace extends Omit<StoredFrames, 'bytes'> {
  byteLength: number
}

/**
 * @returns the format byte and the content, which may be compressed. The content is one JSON line `{messages, entries,
 * underWay}` and the raw frames.
 */
export async function packEventLog(log: StoredLog): Promise<Uint8Array> {
  const { messages, entries } = log
  let characters = 0
  for (const message of messages) characters += message.length
  for (const entry of entries) {
    if ('bytes' in entry) characters += entry.bytes.length
    else if (typeof entry.pieces === 'string') characters += entry.pieces.length
    else for (const piece of entry.pieces) characters += piece.length
  }
  if (characters > wholeLimitCharacters) {
    return Buffer.concat([Buffer.of(packing.deflated), ...(await deflateTexts(textsOf(log)))])
  }
  let text = ''
  for (const piece of textsOf(log)) text += piece
  const file = Buffer.from(text)
  if (file.length < plainLimitBytes) return Buffer.concat([Buffer.of(packing.plain), file])
  const deflated =
    file.length <= sameThreadLimitBytes ? deflateRawSync(file, smallOptions) : await compress(file, options)
  return Buffer.concat([Buffer.of(packing.deflated), deflated])
}

function* textsOf({ messages, entries, underWay }: StoredLog): Generator<string> {
  yield '{"messages":['
  let mark = ''
  for (const message of messages) {
    yield mark
    yield message
    mark = ','
  }
  yield '],"entries":['
  mark = ''
  let open: FramePlace | undefined
  for (const entry of entries) {
    if ('bytes' in entry || typeof entry.pieces === 'string') {
      open ??= { id: entry.id, lastId: entry.id, byteLength: 0 }
      open.lastId = 'bytes' in entry ? entry.lastId : entry.id
      open.byteLength += 'bytes' in entry ? entry.bytes.length : Buffer.byteLength(String(entry.pieces))
      continue
    }
    if (open) {
      yield mark + JSON.stringify(open)
      mark = ','
      open = undefined
    }
    yield mark
    yield* jsonPieces(entry)
    mark = ','
  }
  if (open) yield mark + JSON.stringify(open)
  yield underWay ? `],"underWay":${JSON.stringify(underWay)}}\n` : ']}\n'
  for (const entry of entries) {
    if ('bytes' in entry) yield entry.bytes.toString('utf8')
    else if (typeof entry.pieces === 'string') yield entry.pieces
  }
}

/** Compresses texts that are too large to be in memory twice. Yields to other work between pieces. */
async function deflateTexts(texts: Iterable<string>): Promise<Buffer[]> {
  const packed: Buffer[] = []
  const source = Readable.from(evenTexts(texts, writeCharacters), { objectMode: true, highWaterMark: 1 })
  // Without a reader, the pipeline resolves before the compressor has emitted all output.
  await pipeline(source, createDeflateRaw(options), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) packed.push(piece)
  })
  return packed
}

/** Unpacks an event log. The frames are the bytes that live readers got. Returns null for an unknown format. */
export async function unpackEventLog(file: Uint8Array): Promise<StoredLog | null> {
  const [form] = file
  if (form !== packing.plain && form !== packing.deflated) return null
  const rest = file.subarray(1)
  const bytes = form === packing.plain ? Buffer.from(rest) : await expand(rest)
  const headEnd = bytes.indexOf('\n')
  const { underWay, ...head } = JSON.parse(bytes.toString('utf8', 0, headEnd)) as Pick<StoredLog, 'underWay'> & {
    messages: Message[]
    entries: (LogEntry | FramePlace)[]
  }
  let next = headEnd + 1
  const entries = head.entries.map((entry) => {
    if (!('byteLength' in entry)) return entry
    const { byteLength, ...ids } = entry
    next += byteLength
    return { ...ids, bytes: bytes.subarray(next - byteLength, next) }
  })
  return defined({ messages: head.messages.map(encodeMessage), entries, underWay })
}

export function entriesAfter({ entries }: StoredLog, afterId: number): readonly (LogEntry | StoredFrames)[] {
  const place = entries.findIndex((entry) => ('bytes' in entry ? entry.lastId : entry.id) > afterId)
  const begun = entries[place]
  if (!begun) return []
  if (!('bytes' in begun) || begun.id > afterId) return entries.slice(place)
  // Frame data contains no line break, so this text marks the end of the last seen frame.
  const mark = `\nid: ${afterId}\n\n`
  const seen = begun.bytes.indexOf(mark) + Buffer.byteLength(mark)
  return [{ ...begun, id: afterId + 1, bytes: begun.bytes.subarray(seen) }, ...entries.slice(place + 1)]
}

export const eventCodec: EventCodec = {
  encodeMessage,
  encodeResponse,
  encodeEvent,
  bytesOf,
  packEventLog,
  unpackEventLog,
  entriesAfter,
}
