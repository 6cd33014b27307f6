/** The event log of an ended run as it is stored: self-contained, so that a replay gives the same bytes. */
import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib'
import type { Message } from '../../templates/message.ts'
import type { EncodedMessage, LogEntry } from '../ports.ts'
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

/** @returns `{messages, entries}` as JSON, messages in their whole form, the other form being derived from it. */
export async function packEventLog(
  messages: readonly EncodedMessage[],
  entries: readonly LogEntry[],
): Promise<Uint8Array> {
  const json = Buffer.from(
    `{"messages":[${messages.map((message) => message.whole).join(',')}],"entries":${JSON.stringify(entries)}}`,
  )
  if (json.length < plainLimitBytes) return Buffer.concat([Buffer.of(packing.plain), json])
  const deflated = json.length <= sameThreadLimitBytes ? deflateRawSync(json, options) : await compress(json, options)
  return Buffer.concat([Buffer.of(packing.deflated), deflated])
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
