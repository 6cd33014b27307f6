/** The transport of provider calls: undici's `request` with one keep-alive pool per origin. */

import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Agent } from 'undici'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { type GuardSettings, guardedConnect } from './address-guard.ts'
import { transportError } from './transport-error.ts'

/** Time and size limits of provider calls. */
export interface ProviderLimits {
  /** Name resolution, TCP and TLS together. */
  connectMs: number
  /** Until the head of a streamed response. */
  firstByteMs: number
  /** Until the head of a plain response, which arrives only when complete; also the silence within its body. */
  plainMs: number
  /** Between two reads of a streamed response. */
  silenceMs: number
  headBytes: number
  plainBytes: number
  /** A frame may contain a whole generated image. */
  frameBytes: number
  /** Pause before the first retry. It doubles with each further one. */
  backoffMs: number
}

export const providerLimits: ProviderLimits = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  plainMs: 600_000,
  silenceMs: 120_000,
  headBytes: 65_536,
  plainBytes: 33_554_432,
  frameBytes: 16_777_216,
  backoffMs: 500,
}

export interface LeanRequest {
  url: URL
  headers: Record<string, string>
  body: string
  /** Streamed responses must start earlier and may not be silent for long. */
  isStream: boolean
  /** The operator configured the address, so it is not checked. */
  isTrusted: boolean
  signal: AbortSignal
}

/** The parts of a response that protocols use. `body` is undici's own stream. */
export interface LeanResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
  text(): Promise<string>
}

export interface LeanTransport {
  /** @throws ProviderError. After an abort by `signal` it rejects with undici's error. */
  send(request: LeanRequest): Promise<LeanResponse>
  close(): Promise<void>
}

export function leanTransport(guard: GuardSettings, limits: ProviderLimits): LeanTransport {
  const options: Agent.Options = { maxHeaderSize: limits.headBytes, keepAliveTimeout: 30_000, pipelining: 1 }
  // Two agents: a connection opened without the address check must never serve a request that needs it.
  const checked = new Agent({ ...options, connect: guardedConnect(guard, limits.connectMs) })
  const trusted = new Agent({ ...options, connect: { timeout: limits.connectMs } })
  return {
    async send({ url, headers, body, isStream, isTrusted, signal }) {
      try {
        const answer = await (isTrusted ? trusted : checked).request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: { ...headers, 'accept-encoding': 'identity' },
          body,
          signal,
          headersTimeout: isStream ? limits.firstByteMs : limits.plainMs,
          bodyTimeout: isStream ? limits.silenceMs : limits.plainMs,
        })
        return {
          status: answer.statusCode,
          headers: answer.headers,
          body: answer.body,
          text: () => readWhole(answer.body, limits.plainBytes),
        }
      } catch (error) {
        throw signal.aborted ? error : transportError(error)
      }
    },
    async close() {
      await Promise.all([checked.destroy(), trusted.destroy()])
    },
  }
}

/** A header as text, repeated ones joined. @param name in lower case. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** @throws ProviderError `malformed` above the limit or for invalid UTF-8, other kinds for a truncated body. */
async function readWhole(body: Readable, limitBytes: number): Promise<string> {
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
