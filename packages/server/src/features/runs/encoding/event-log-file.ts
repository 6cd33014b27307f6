/** The stored event log of an ended run: self-contained, so that a replay gives the same bytes. */

import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib'
import { jsonPieces } from '../../../shared/json-pieces.ts'
import type { Message } from '../../templates/message.ts'
import type { EncodedMessage, LogEntry, StoredFrames, StoredLog } from '../ports.ts'
import { deflatePieces } from './deflate-pieces.ts'
import { encodeMessage } from './message-list.ts'

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)

/** First byte of a stored log: its form, and how the rest is packed. A new form has new numbers. */
const packing = { plain: 2, deflated: 3 } as const

// Below this size compressing costs more than it saves.
const plainLimitBytes = 1_024
// Up to this size compressing takes less than a tenth of what handing it to another thread costs.
const sameThreadLimitBytes = 65_536
const options = { level: 3 }
// For small logs a better compression level saves only a few bytes but allocates more memory.
const smallOptions = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4_096 }
// Larger logs are built and compressed in pieces: as a whole, the text would be in memory four times.
const wholeLimitCharacters = 1_048_576

/** Neighbouring frames that are ready text. */
interface ReadyFrames {
  id: number
  frames: string[]
}

/** The offset of these frames after the head of a file: after the frames before them. */
interface FramePlace extends Omit<StoredFrames, 'bytes'> {
  byteLength: number
}

/**
 * @returns a line of JSON, `{messages, entries}` with messages in their whole form, the other form being derived from it;
 * behind it, as they are, the frames that the entries name by their number of bytes.
 */
export async function packEventLog(
  messages: readonly EncodedMessage[],
  entries: readonly LogEntry[],
): Promise<Uint8Array> {
  const parts = partsOf(entries)
  if (charactersOf(messages, entries) > wholeLimitCharacters) {
    return Buffer.concat([Buffer.of(packing.deflated), ...(await deflatePieces(textsOf(messages, parts), options))])
  }
  const file = Buffer.from([...textsOf(messages, parts)].join(''))
  if (file.length < plainLimitBytes) return Buffer.concat([Buffer.of(packing.plain), file])
  const deflated =
    file.length <= sameThreadLimitBytes ? deflateRawSync(file, smallOptions) : await compress(file, options)
  return Buffer.concat([Buffer.of(packing.deflated), deflated])
}

function charactersOf(messages: readonly EncodedMessage[], entries: readonly LogEntry[]): number {
  let characters = 0
  for (const { whole } of messages) characters += whole.length
  for (const { pieces } of entries) {
    if (typeof pieces === 'string') characters += pieces.length
    else for (const piece of pieces) characters += piece.length
  }
  return characters
}

function partsOf(entries: readonly LogEntry[]): (LogEntry | ReadyFrames)[] {
  const parts: (LogEntry | ReadyFrames)[] = []
  let open: ReadyFrames | undefined
  for (const entry of entries) {
    if (typeof entry.pieces !== 'string') {
      parts.push(entry)
      open = undefined
    } else if (open) open.frames.push(entry.pieces)
    else {
      open = { id: entry.id, frames: [entry.pieces] }
      parts.push(open)
    }
  }
  return parts
}

function* textsOf(messages: readonly EncodedMessage[], parts: readonly (LogEntry | ReadyFrames)[]): Generator<string> {
  yield '{"messages":['
  for (const [place, { whole }] of messages.entries()) {
    if (place > 0) yield ','
    yield whole
  }
  yield '],"entries":['
  for (const [place, part] of parts.entries()) {
    if (place > 0) yield ','
    yield* jsonPieces('frames' in part ? placeOf(part) : part)
  }
  yield ']}\n'
  for (const part of parts) if ('frames' in part) yield* part.frames
}

function placeOf({ id, frames }: ReadyFrames): FramePlace {
  const byteLength = frames.reduce((sum, frame) => sum + Buffer.byteLength(frame), 0)
  return { id, lastId: id + frames.length - 1, byteLength }
}

/** The unpacked log: its frames are the bytes that live readers got. Null for an obsolete format. */
export async function unpackEventLog(file: Uint8Array): Promise<StoredLog | null> {
  const [form] = file
  if (form !== packing.plain && form !== packing.deflated) return null
  const rest = file.subarray(1)
  const bytes = form === packing.plain ? Buffer.from(rest) : await expand(rest)
  const headEnd = bytes.indexOf('\n')
  const head = JSON.parse(bytes.toString('utf8', 0, headEnd)) as {
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
  return { messages: head.messages.map(encodeMessage), entries }
}

/** The events after `afterId`. */
export function entriesAfter({ entries }: StoredLog, afterId: number): readonly (LogEntry | StoredFrames)[] {
  const place = entries.findIndex((entry) => ('bytes' in entry ? entry.lastId : entry.id) > afterId)
  const begun = entries[place]
  if (!begun) return []
  if (!('bytes' in begun) || begun.id > afterId) return entries.slice(place)
  // Data of a frame contains no line break, so this is the end of the last seen frame.
  const mark = `\nid: ${afterId}\n\n`
  const seen = begun.bytes.indexOf(mark) + Buffer.byteLength(mark)
  return [{ ...begun, id: afterId + 1, bytes: begun.bytes.subarray(seen) }, ...entries.slice(place + 1)]
}
