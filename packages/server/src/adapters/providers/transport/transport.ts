/** Sends provider calls with undici's `request` and one keep-alive pool per origin. */

import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Agent } from 'undici'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { unreadable } from '../json.ts'
import { AddressRefused, type GuardSettings, guardedConnect } from './address-guard.ts'

export interface ProviderLimits {
  /** Limit for name resolution, TCP and TLS together. */
  connectMs: number
  /** Limit until a streamed response's headers arrive. */
  firstByteMs: number
  /** Limit until a plain response's headers, which arrive when it is complete. Also limits silence in its body. */
  plainMs: number
  /** Limit between two reads of a streamed response. */
  silenceMs: number
  headBytes: number
  plainBytes: number
  /** Large, because a frame may contain a complete generated image. */
  frameBytes: number
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
  isStream: boolean
  /** Skips the address check, because the operator configured the address. */
  isTrusted: boolean
  signal: AbortSignal
}

export interface LeanResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
}

export interface LeanTransport {
  /** @throws ProviderError. After an abort by `signal`, rejects with undici's error. */
  send(request: LeanRequest): Promise<LeanResponse>
  close(): Promise<void>
}

export function leanTransport(guard: GuardSettings, limits: ProviderLimits): LeanTransport {
  const options: Agent.Options = { maxHeaderSize: limits.headBytes, keepAliveTimeout: 30_000, pipelining: 1 }
  // A connection opened without the address check must never serve a request that needs it.
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
        return { status: answer.statusCode, headers: answer.headers, body: answer.body }
      } catch (error) {
        throw signal.aborted ? error : transportError(error)
      }
    },
    async close() {
      await Promise.all([checked.destroy(), trusted.destroy()])
    },
  }
}

export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** @throws ProviderError `malformed` above the limit or for invalid UTF-8, other kinds for a truncated body. */
export function readWhole(body: Readable, limitBytes: number): Promise<string> {
  // Uses events, because an iterator over the body costs a promise per piece.
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
    body.on('error', (error) => reject(transportError(error)))
    // A body destroyed without an error emits neither `end` nor `error`.
    body.on('close', () => {
      if (!body.readableEnded) return reject(new ProviderError('unavailable', connectionLost))
      const bytes = Buffer.concat(pieces)
      if (isUtf8(bytes)) resolve(bytes.toString('utf8'))
      else reject(unreadable())
    })
  })
}

export const connectionLost = 'The connection to the provider was lost'

const connectFailures = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Omits `cause` if its text would look like a timeout of the client itself. */
export function transportError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof AddressRefused) return new ProviderError('misconfigured', error.message)
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT')
    return new ProviderError('timeout', 'The provider did not begin to answer in time')
  if (code === 'UND_ERR_BODY_TIMEOUT')
    return new ProviderError('timeout', 'The provider stopped sending before the end of its response')
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new ProviderError('malformed', 'The head of the answer is too large')
  if (code.startsWith('HPE_') || code === 'ERR_ENCODING_INVALID_ENCODED_DATA' || error instanceof SyntaxError) {
    return unreadable()
  }
  if (code.startsWith('ERR_TLS') || code.includes('CERT')) {
    return new ProviderError('unavailable', 'The TLS certificate of the provider is not valid')
  }
  return new ProviderError('unavailable', connectFailures.has(code) ? 'The provider cannot be reached' : connectionLost)
}

// For a name with several addresses, Node throws an AggregateError with the first failure's code.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause === undefined ? '' : codeOf(error.cause)
}
