/** Receives request bodies within the limits of bytes, depth and values, and discards the rest of refused ones. */
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { afterListening } from '../../shared/time/listening-time.ts'

type Decompress = (data: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

const decompressors = new Map<string, Decompress>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** A connection that has sent this much is read once per turn of the event loop, so the others are served in between. */
const unpacedBytes = 65_536
const discardLimitBytes = 64 * 1024 * 1024
const discardLimitMs = 5_000
/** Coarse, because there may be many of them. */
const tickMs = 1_000

/**
 * The decompressed body. Never more than the limit is in memory.
 * @param check called with each part of an uncompressed body; if it throws, the rest is not received.
 * @throws AppError PayloadTooLargeError, UnsupportedMediaTypeError (encoding), BadRequestError (broken body).
 */
export async function readBody(
  req: IncomingMessage,
  limitBytes: number,
  check?: (part: Buffer) => void,
): Promise<Buffer> {
  const encoding = req.headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const isPlain = encoding === 'identity'
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const raw = await receive(req, limitBytes, isPlain ? check : undefined)
  if (raw.length === 0 || isPlain) return raw
  const decompress = decompressors.get(encoding)
  if (!decompress) throw refuse('unsupported-content-encoding')
  const body = await decompressWithin(decompress, raw, limitBytes)
  check?.(body)
  return body
}

function receive(req: IncomingMessage, limitBytes: number, check?: (part: Buffer) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const settle = (finish: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      finish()
    }
    const onData = (part: Buffer): void => {
      size += part.length
      try {
        if (size > limitBytes) throw tooLarge(limitBytes)
        check?.(part)
      } catch (error) {
        req.pause()
        settle(() => reject(error))
        return
      }
      parts.push(part)
      if (size > unpacedBytes) pauseForOneTurn(req)
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(parts, size)))
    const onBroken = (): void => settle(() => reject(refuse('incomplete-body')))
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

function pauseForOneTurn(req: IncomingMessage): void {
  req.pause()
  setImmediate(() => req.resume())
}

async function decompressWithin(decompress: Decompress, raw: Buffer, limitBytes: number): Promise<Buffer> {
  try {
    return await decompress(raw, { maxOutputLength: limitBytes })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(limitBytes)
    throw refuse('malformed-compression')
  }
}

function tooLarge(limitBytes: number): AppError {
  return refuse('body-too-large', { limit: limitBytes })
}

/**
 * Receives what a client still sends of a refused body. If the connection were closed earlier, the client could be reset before it
 * has read the response. Resolves at the end of the body or the connection, or at the limits of bytes and time.
 */
export function discardBody(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let size = 0
    // Time in which the process was busy and could not receive does not count.
    const stopTimer = afterListening(discardLimitMs, finish, tickMs)
    function onData(part: Buffer): void {
      size += part.length
      if (size > discardLimitBytes) finish()
      else pauseForOneTurn(req)
    }
    function finish(): void {
      stopTimer()
      req.off('data', onData).off('end', finish).off('error', finish).off('close', finish)
      resolve()
    }
    // An error after `finish` needs no handling.
    req.on('error', () => undefined)
    req.on('data', onData).on('end', finish).on('error', finish).on('close', finish)
    if (req.destroyed || req.readableEnded) finish()
    else req.resume()
  })
}
