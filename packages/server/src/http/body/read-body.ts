import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MIMEType } from 'node:util'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError, refuse } from '../../shared/app-error.ts'
import { afterListening } from '../../shared/clock.ts'
import { hasMoreKeys, inputBounds, type JsonBounds, JsonMeter } from '../../shared/json-limits.ts'
import { refuseValue, tooDeep } from '../../shared/text-guards.ts'
import { invalidRequest, type RequestIssue } from './check-input.ts'

const decompressors = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** A body up to this size cannot exceed the limits of values and keys. Its depth is checked after parsing. */
const shortBytes = 32_768
/**
 * After this many bytes, a body is read once per event loop turn, so that other connections are not delayed, and a refused
 * body waits for its turn.
 */
const unpacedBytes = 65_536
const collectAfterBytes = 8_388_608
const discardLimitMs = 5_000
/** Each turn reads one part, of 64 KB, of one refused body: 13 MB per second for all connections. */
const discardPauseMs = 5
const tickMs = 1_000

const refusals: Record<keyof JsonBounds, string> = {
  depth: tooDeep,
  values: `must not hold more than ${inputBounds.values} values`,
  keys: `must not hold more than ${inputBounds.keys} different keys`,
}
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * An empty body counts as `{}`, and a missing content type as JSON. Limits depth, values and keys, because the cost of
 * later work depends on them.
 * @param spend is called for a body longer than `shortBytes`, and may refuse it: before it is read if its length is
 * declared, and for the rest before it is parsed.
 * @throws AppError as `readBody`; UnsupportedMediaTypeError; BadRequestError for invalid JSON or a refused value.
 */
export async function readJsonBody(
  req: IncomingMessage,
  limitBytes: number,
  spend?: (bytes: number) => Promise<void>,
): Promise<unknown> {
  const { 'content-type': type } = req.headers
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > limitBytes) throw tooLarge(limitBytes)
  if (type !== 'application/json' && !isJson(type)) {
    if ((await readBody(req, limitBytes)).length === 0) return {}
    throw refuse('unsupported-content-type')
  }
  const isDeclaredLong = declared > shortBytes
  if (isDeclaredLong) await spend?.(declared)
  let meter: JsonMeter | undefined
  const bytes = await readBody(req, limitBytes, (part) => {
    meter ??= new JsonMeter(inputBounds)
    const exceeded = meter.add(part)
    if (exceeded) throw refused([], refusals[exceeded])
  })
  if (bytes.length === 0) return {}
  const unspent = isDeclaredLong ? bytes.length - declared : bytes.length
  if (unspent > shortBytes) await spend?.(unspent)
  if (meter && meter.members > inputBounds.keys && hasMoreKeys(bytes, inputBounds.keys))
    throw refused([], refusals.keys)
  if (meter) await nextTurn()
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw refuse('malformed-json')
  }
  if (meter) await nextTurn()
  const refusal = refuseValue(value)
  if (refusal) throw refused(refusal.path, refusal.reason)
  if (meter) await nextTurn()
  return value
}

/** The length of a body for which `spend` is not called. An unknown length counts as the longest. */
export function shortBodyBytes(req: IncomingMessage): number {
  const length = Number(req.headers['content-length'] ?? shortBytes)
  return length <= shortBytes ? length : 0
}

const refused = (path: RequestIssue['path'], message: string) =>
  invalidRequest('invalid-body', [{ path, code: 'custom', message }])

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType.trim() === '') return true
  try {
    const { essence, params } = new MIMEType(contentType)
    const isOfJson = essence === 'application/json' || essence.endsWith('+json')
    return isOfJson && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8')
  } catch {
    return false
  }
}

/**
 * Stops once the body exceeds the limit, before or after decompression.
 * @param check gets the parts of an uncompressed body, or the complete decompressed body, if longer than `shortBytes`.
 * If `check` throws, reading stops.
 * @throws AppError PayloadTooLargeError; UnsupportedMediaTypeError for an unknown encoding; BadRequestError for an
 * incomplete body or invalid compression.
 */
export async function readBody(
  req: IncomingMessage,
  limitBytes: number,
  check?: (part: Buffer) => void,
): Promise<Buffer> {
  const encoding = req.headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const isPlain = encoding === 'identity'
  const parts: Buffer[] = []
  let [size, checked] = [0, 0]
  try {
    // Leaving the loop must not close the request, because `discardBody` reads the rest of a rejected body.
    for await (const part of req.iterator({ destroyOnReturn: false })) {
      parts.push(part)
      size += part.length
      countReceived(part)
      if (size > limitBytes) throw tooLarge(limitBytes)
      if (isPlain && check && size > shortBytes) {
        for (const next of parts.slice(checked)) check(next)
        checked = parts.length
      }
      if (size > unpacedBytes) await nextTurn()
    }
  } catch (error) {
    throw error instanceof AppError ? error : refuse('incomplete-body')
  }
  const raw = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, size)
  if (size === 0 || isPlain) return raw
  const decompress = decompressors.get(encoding)
  if (!decompress) throw refuse('unsupported-content-encoding')
  const body = await decompressed(raw, decompress(), limitBytes)
  if (body.length > shortBytes) check?.(body)
  return body
}

/**
 * In parts, so that those of a refused body are collected as quickly as received ones: `gunzip` keeps its own too long.
 */
async function decompressed(raw: Buffer, stream: Transform, limitBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  stream.end(raw)
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      parts.push(part)
      size += part.length
      countReceived(part)
      if (size > limitBytes) throw tooLarge(limitBytes)
    }
  } catch (error) {
    throw error instanceof AppError ? error : refuse('malformed-compression')
  }
  return Buffer.concat(parts, size)
}

let uncollectedBytes = 0

/**
 * Each part leaves a buffer of 64 KB as garbage, and V8 alone collects such buffers only after they add up to 64 MB:
 * bodies of 100 MB then cost 70 MB. Does nothing without `--expose-gc`.
 */
function countReceived(part: Buffer): void {
  uncollectedBytes += part.length
  if (uncollectedBytes < collectAfterBytes) return
  uncollectedBytes = 0
  globalThis.gc?.({ type: 'minor', execution: 'sync' })
}

function tooLarge(limitBytes: number): AppError {
  return refuse('body-too-large', { limit: limitBytes })
}

/** Refused bodies whose next part waits for its turn. */
const discarded = new Set<Readable>()
let discardTurns: NodeJS.Timeout | undefined

function discardNext(): void {
  const [next] = discarded
  if (!next) {
    clearInterval(discardTurns)
    discardTurns = undefined
    return
  }
  discarded.delete(next)
  next.resume()
}

function awaitDiscard(req: Readable): void {
  discarded.add(req)
  discardTurns ??= setInterval(discardNext, discardPauseMs)
}

/**
 * Reads and drops the rest of a body. Resolves at the end of the body or connection, or at a limit of time.
 * Closing the connection earlier could reset it before the client has read the response. Refused bodies take turns,
 * because reading them at full speed doubled the CPU time of the server's thread (bench/NOTES.md, 2026-11-28).
 */
export function discardBody(req: Readable): Promise<void> {
  return new Promise((resolve) => {
    let size = 0
    // Does not count time in which this process was too busy to receive.
    const stopTimer = afterListening(discardLimitMs, finish, tickMs)
    function onData(part: Buffer): void {
      size += part.length
      countReceived(part)
      req.pause()
      if (size > unpacedBytes) awaitDiscard(req)
      else setImmediate(() => req.resume())
    }
    function finish(): void {
      stopTimer()
      discarded.delete(req)
      req.off('data', onData).off('end', finish).off('error', finish).off('close', finish)
      resolve()
    }
    // `finish` removes its error listener. Without another one, a later error would end the process.
    req.on('error', () => undefined)
    req.on('data', onData).on('end', finish).on('error', finish).on('close', finish)
    if (req.destroyed || req.readableEnded) finish()
    else req.resume()
  })
}
