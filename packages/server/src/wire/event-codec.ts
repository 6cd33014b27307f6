import type { EventCodec } from '../features/runs/ports.ts'
import { entriesAfter, packEventLog, unpackEventLog } from './event-log-format.ts'
import { bytesOf, encodeEvent, encodeMessage, encodeResponse } from './run-frames.ts'

export const eventCodec: EventCodec = {
  encodeMessage,
  encodeResponse,
  encodeEvent,
  bytesOf,
  packEventLog,
  unpackEventLog,
  entriesAfter,
}
