/** The event log of an ended run as it is stored: self-contained, so that a replay gives the same bytes. */
import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib'
import { jsonPieces } from '../../../shared/text/json-pieces.ts'
import type { Message } from '../../templates/message.ts'
import type { EncodedMessage, LogEntry } from '../ports.ts'
import { deflatePieces } from './deflate-pieces.ts'
import { encodeMessage } from './message-list.ts'

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)

/** First byte of a stored log: how the rest, JSON in UTF-8, is packed. */
const packing = { plain: 0, deflated: 1 } as const

// Below this size compressing costs more than it saves.
const plainLimitBytes = 1_024
// Up to this size compressing takes less than a tenth of what handing it to another thread costs.
const sameThreadLimitBytes = 65_536
const options = { level: 3 }
// Of small logs a better search would save a few bytes, and memory that they do not fill is only made and thrown away.
const smallOptions = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4_096 }
// Beyond this the text is made and packed in pieces: whole, it would stand in memory four times.
const wholeLimitCharacters = 1_048_576

/** @returns `{messages, entries}` as JSON, messages in their whole form, the other form being derived from it. */
export async function packEventLog(
  messages: readonly EncodedMessage[],
  entries: readonly LogEntry[],
): Promise<Uint8Array> {
  if (charactersOf(messages, entries) > wholeLimitCharacters) {
    return Buffer.concat([Buffer.of(packing.deflated), ...(await deflatePieces(textsOf(messages, entries), options))])
  }
  const json = Buffer.from(
    `{"messages":[${messages.map((message) => message.whole).join(',')}],"entries":${JSON.stringify(entries)}}`,
  )
  if (json.length < plainLimitBytes) return Buffer.concat([Buffer.of(packing.plain), json])
  const deflated =
    json.length <= sameThreadLimitBytes ? deflateRawSync(json, smallOptions) : await compress(json, options)
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

/** The same JSON, piece by piece. */
function* textsOf(messages: readonly EncodedMessage[], entries: readonly LogEntry[]): Generator<string> {
  yield '{"messages":['
  for (const [place, { whole }] of messages.entries()) {
    if (place > 0) yield ','
    yield whole
  }
  yield '],"entries":['
  for (const [place, entry] of entries.entries()) {
    if (place > 0) yield ','
    yield* jsonPieces(entry)
  }
  yield ']}'
}

export interface StoredLog {
  messages: readonly EncodedMessage[]
  entries: readonly LogEntry[]
}

/** The log as it was packed: its frames are the bytes that live readers got. */
export async function unpackEventLog(file: Uint8Array): Promise<StoredLog> {
  const rest = file.subarray(1)
  const json = Buffer.from(file[0] === packing.plain ? rest : await expand(rest)).toString('utf8')
  const log = JSON.parse(json) as { messages: Message[]; entries: LogEntry[] }
  return { messages: log.messages.map(encodeMessage), entries: log.entries }
}
