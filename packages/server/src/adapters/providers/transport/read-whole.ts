/** Reads a plain body as text, up to a limit. */
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { transportError } from './transport-error.ts'

/** @throws ProviderError `malformed` above the limit or for invalid UTF-8, other kinds for a truncated body. */
export async function readWhole(body: Readable, limitBytes: number): Promise<string> {
  const bytes = await readBytes(body, limitBytes)
  if (!isUtf8(bytes)) throw new ProviderError('malformed', 'The provider sent an answer that cannot be read')
  return bytes.toString('utf8')
}

// Uses events, because an iterator over the body costs a promise per chunk.
function readBytes(body: Readable, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    body.on('data', (piece: Buffer) => {
      size += piece.length
      pieces.push(piece)
      if (size <= limitBytes) return
      reject(new ProviderError('malformed', `The answer has more than ${limitBytes} bytes`))
      body.destroy()
    })
    body.on('end', () => resolve(Buffer.concat(pieces)))
    body.on('error', (error) => reject(transportError(error)))
    // A body destroyed without an error emits neither `end` nor `error`.
    body.on('close', () => {
      if (!body.readableEnded) reject(new ProviderError('unavailable', 'The connection to the provider broke off'))
    })
  })
}
