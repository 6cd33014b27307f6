/** Reads a request body within its limit, decompressed; never more than the limit is held. */
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { type AppError, refuse } from '../../shared/app-error.ts'

type Decompress = (data: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

const decompressors = new Map<string, Decompress>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** @throws AppError PayloadTooLargeError, UnsupportedMediaTypeError (encoding), BadRequestError (broken body). */
export async function readBody(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const encoding = req.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const raw = await collect(req, limitBytes)
  if (raw.length === 0 || encoding === 'identity' || encoding === '') return raw
  const decompress = decompressors.get(encoding)
  if (!decompress) throw refuse('unsupported-content-encoding')
  return inflateWithin(decompress, raw, limitBytes)
}

function collect(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    const settle = (finish: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      finish()
    }
    const onData = (piece: Buffer): void => {
      size += piece.length
      if (size <= limitBytes) pieces.push(piece)
      else settle(() => reject(tooLarge(limitBytes)))
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(pieces, size)))
    const onBroken = (): void => settle(() => reject(refuse('incomplete-body')))
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

async function inflateWithin(decompress: Decompress, raw: Buffer, limitBytes: number): Promise<Buffer> {
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
