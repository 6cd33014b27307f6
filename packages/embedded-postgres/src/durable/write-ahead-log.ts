/**
 * Reads PostgreSQL's write-ahead log. Recovery ends silently at the first damaged record. Only a reader that has the
 * expected end of the log can notice the damage. Positions (LSN) are numbers, which are exact up to 2^53.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const LOG_FOLDER = 'pg_wal'
export const PAGE_BYTES = 8_192

export const isSegmentName = (name: string): boolean => /^[0-9A-F]{24}$/.test(name)

/** `XLogLongPageHeader` of the first page in a segment, and `XLogPageHeader` of the others. */
const HEADER_BYTES = { first: 40, other: 24 }
const PAGE_FIELD = { flags: 2, address: 8, continued: 16 }
/** The page begins with the rest of a record. */
const IS_CONTINUED = 1
const IS_FIRST = 2
/** The page before ends in a record that was never finished. */
const IS_CUT = 8

/** `XLogRecord`. */
const RECORD = { headerBytes: 24, info: 16, manager: 17, checksum: 20 }
const RECORD_LIMIT_BYTES = 1_073_741_824
/** After this record, the rest of the segment is empty. */
const SWITCH = { manager: 0, info: 0x40 }

/**
 * Fields of `pg_control`: the position at which recovery begins, and its timeline. Bounds of the place of its checksum.
 */
const CONTROL = { redo: 40, timeline: 48, least: 128, most: 512 }

const align = (bytes: number): number => Math.ceil(bytes / 8) * 8
const headerOf = (flags: number): number => (flags & IS_FIRST ? HEADER_BYTES.first : HEADER_BYTES.other)

/** Returns the position after the last complete record that begins or ends in the page. Undefined if there is none. */
export function endOfRecords(page: Buffer): number | undefined {
  const flags = page.readUInt16LE(PAGE_FIELD.flags)
  let at = headerOf(flags) + (flags & IS_CONTINUED ? align(page.readUInt32LE(PAGE_FIELD.continued)) : 0)
  if (at > PAGE_BYTES) return undefined
  while (at < PAGE_BYTES) {
    const length = page.readUInt32LE(at)
    if (length === 0 || at + length > PAGE_BYTES) break
    at += align(length)
  }
  return Number(page.readBigUInt64LE(PAGE_FIELD.address)) + at
}

/**
 * Checks every record from the start of crash recovery to `end`.
 * @returns the position of the first damaged or missing record. Undefined if there is none.
 */
export function findLogDamage(directory: string, end: number): number | undefined {
  const control = readIfThere(join(directory, 'global', 'pg_control'))
  // PostgreSQL itself refuses to start with a damaged control file.
  if (!isWholeControl(control)) return undefined
  const log = openLog(join(directory, LOG_FOLDER), control.readUInt32LE(CONTROL.timeline))
  let at = Number(control.readBigUInt64LE(CONTROL.redo))
  while (at < end) {
    const next = log?.recordAfter(at)
    if (next === undefined) return at
    at = next
  }
  return undefined
}

interface Log {
  /** Returns the position after the record. Undefined if the record is damaged or missing. */
  recordAfter(at: number): number | undefined
}

function openLog(folder: string, timeline: number): Log | undefined {
  const name = existsSync(folder) ? readdirSync(folder).find(isSegmentName) : undefined
  if (name === undefined) return undefined
  const segmentBytes = statSync(join(folder, name)).size
  let segment: { number: number; bytes: Buffer } = { number: -1, bytes: Buffer.alloc(0) }
  const pageAt = (address: number): Buffer | undefined => {
    const number = Math.floor(address / segmentBytes)
    if (segment.number !== number) segment = { number, bytes: readSegment(folder, timeline, number, segmentBytes) }
    const from = address % segmentBytes
    const page = segment.bytes.subarray(from, from + PAGE_BYTES)
    // A recycled file still has the pages of an earlier segment.
    const isWhole = page.length === PAGE_BYTES && Number(page.readBigUInt64LE(PAGE_FIELD.address)) === address
    return isWhole ? page : undefined
  }
  const isFirst = (address: number) => address % segmentBytes === 0

  /** Skips the header of a page in which no record has begun yet. */
  const afterHeader = (at: number) =>
    at % PAGE_BYTES === 0 ? at + (isFirst(at) ? HEADER_BYTES.first : HEADER_BYTES.other) : at

  return {
    recordAfter(start) {
      const first = pageAt(start - (start % PAGE_BYTES))
      const length = first?.readUInt32LE(start % PAGE_BYTES) ?? 0
      if (!first || length < RECORD.headerBytes || length > RECORD_LIMIT_BYTES) return undefined
      const parts = [first.subarray(start % PAGE_BYTES, (start % PAGE_BYTES) + length)]
      let left = length - (parts[0]?.length ?? 0)
      let end = start + length
      for (let address = start - (start % PAGE_BYTES) + PAGE_BYTES; left > 0; address += PAGE_BYTES) {
        const page = pageAt(address)
        if (!page) return undefined
        const flags = page.readUInt16LE(PAGE_FIELD.flags)
        if (flags & IS_CUT) return afterHeader(address)
        if (!(flags & IS_CONTINUED) || page.readUInt32LE(PAGE_FIELD.continued) !== left) return undefined
        const header = headerOf(flags)
        parts.push(page.subarray(header, header + left))
        end = address + header + Math.min(left, PAGE_BYTES - header)
        left -= PAGE_BYTES - header
      }
      const record = Buffer.concat(parts)
      if (recordChecksum(record) !== record.readUInt32LE(RECORD.checksum)) return undefined
      const isSwitch = record[RECORD.manager] === SWITCH.manager && ((record[RECORD.info] ?? 0) & 0xf0) === SWITCH.info
      return afterHeader(isSwitch ? Math.ceil(end / segmentBytes) * segmentBytes : align(end))
    },
  }
}

function readSegment(folder: string, timeline: number, number: number, segmentBytes: number): Buffer {
  const perGroup = 2 ** 32 / segmentBytes
  const parts = [timeline, Math.floor(number / perGroup), number % perGroup]
  const name = parts.map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('')
  return readIfThere(join(folder, name))
}

function readIfThere(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
}

/** The checksum follows the last field, whose place depends on the version. */
function isWholeControl(control: Buffer): boolean {
  for (let at = CONTROL.least; at <= control.length - 4 && at < CONTROL.most; at += 4)
    if (~crc32c(control.subarray(0, at), 0xffffffff) >>> 0 === control.readUInt32LE(at)) return true
  return false
}

/** PostgreSQL sums the data first, then the header up to the checksum. */
function recordChecksum(record: Buffer): number {
  const sum = crc32c(record.subarray(RECORD.headerBytes), 0xffffffff)
  return ~crc32c(record.subarray(0, RECORD.checksum), sum) >>> 0
}

/** CRC-32C, which Node does not have. */
const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value
})

function crc32c(bytes: Uint8Array, start: number): number {
  let sum = start | 0
  // By index, because iterators take several times as long.
  for (let at = 0; at < bytes.length; at += 1)
    sum = (sum >>> 8) ^ (CRC_TABLE[(sum ^ (bytes[at] as number)) & 0xff] as number)
  return sum
}
