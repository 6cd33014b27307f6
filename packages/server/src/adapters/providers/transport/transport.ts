/** Sends model calls with undici's `request` over keep-alive connections. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { defined } from '@stet/template/defined'
import type { Agent, Dispatcher } from 'undici'
import { ProviderError, type ProviderErrorKind } from '../../../features/providers/provider-error.ts'
import { keys } from '../request/body.ts'
import { AddressRefused, type GuardSettings, guardedConnect } from './address-guard.ts'

export type ProviderLimits = typeof providerLimits

export const providerLimits = {
  /** Limit for name resolution, TCP and TLS together. */
  connectMs: 10_000,
  /** Limit until a streamed response's headers arrive. */
  firstByteMs: 120_000,
  /** Limit until a plain response's headers arrive, and between two reads of the body. */
  plainMs: 600_000,
  /** Limit between two reads of a streamed response. */
  silenceMs: 120_000,
  /** Limit for token counts after the finish reason of a streamed response. */
  endMs: 2_000,
  headBytes: 65_536,
  plainBytes: 33_554_432,
  /** Large, because a frame may contain a complete generated image. */
  frameBytes: 16_777_216,
  backoffMs: 500,
}

export interface BuiltRequest {
  url: URL
  headers: Record<string, string>
  body: string
}

interface LeanRequest extends BuiltRequest {
  isStream: boolean
  /** Skips the address check, because the operator configured the address. */
  isTrusted: boolean
  signal: AbortSignal
  traceparent: string | undefined
}

export type LeanResponse = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>
export type LeanTransport = ReturnType<typeof leanTransport>

const idleMs = 30_000

export function leanTransport(guard: GuardSettings, limits: ProviderLimits) {
  const options: Agent.Options = {
    maxHeaderSize: limits.headBytes,
    keepAliveTimeout: idleMs,
    // Without this limit, a provider's keep-alive hint would keep idle sockets for up to ten minutes.
    keepAliveMaxTimeout: idleMs,
    pipelining: 1,
  }
  /** Two, because a request that needs the address check must never use a connection opened without the check. */
  let agents: Promise<Record<'checked' | 'trusted', Agent>> | undefined
  const open = async () => {
    const { Agent, buildConnector } = await import('undici')
    return {
      checked: new Agent({ ...options, connect: guardedConnect(buildConnector, guard, limits.connectMs) }),
      trusted: new Agent({ ...options, connect: { timeout: limits.connectMs } }),
    }
  }
  return {
    /** @throws ProviderError. After an abort by `signal`, the error can have any type. */
    async send({ url, headers, body, isStream, isTrusted, signal, traceparent }: LeanRequest): Promise<LeanResponse> {
      // Loading undici takes 80 ms of CPU, a twentieth of a start, so the first call loads it.
      agents ??= open()
      const { [isTrusted ? 'trusted' : 'checked']: agent } = await agents
      try {
        return await agent.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: { ...headers, 'accept-encoding': 'identity', ...defined({ traceparent }) },
          body,
          signal,
          headersTimeout: isStream ? limits.firstByteMs : limits.plainMs,
          bodyTimeout: isStream ? limits.silenceMs : limits.plainMs,
        })
      } catch (error) {
        throw signal.aborted ? error : transportError(error)
      }
    },
    async close() {
      for (const agent of Object.values((await agents) ?? {})) await agent.destroy()
    },
  }
}

export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Smaller bodies never wait to be decoded. */
const heldFromBytes = 1_048_576

interface WholeBody {
  /** The required start of the body, after blanks. Any other body is left unread and paused. */
  start?: RegExp
  /** Awaited before a large body is decoded. */
  hold?: ((bytes: number) => Promise<void>) | undefined
}

/**
 * Replaces invalid UTF-8.
 * @returns undefined for a body that is left unread.
 * @throws ProviderError `malformed` above the limit. Other failures keep their own kind.
 */
export function readWhole(
  body: Readable,
  limitBytes: number,
  { start, hold }: WholeBody = {},
): Promise<string | undefined> {
  // Uses events, because an iterator over the body costs a promise per piece.
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    let isStarted = start === undefined
    body.on('data', function read(piece: Buffer) {
      const text = isStarted ? '' : piece.toString('latin1').trim()
      isStarted ||= text !== ''
      if (text !== '' && !start?.test(text)) {
        body.off('data', read).pause()
        body.unshift(piece)
        return resolve(undefined)
      }
      size += piece.length
      pieces.push(piece)
      if (size <= limitBytes) return
      reject(new ProviderError('malformed', `The answer has more than ${limitBytes} bytes`))
      body.destroy()
    })
    body.on('error', (error) => reject(transportError(error)))
    // A body destroyed without an error emits only `close`.
    body.on('close', () => {
      if (!body.readableEnded) return reject(new ProviderError('unavailable', connectionLost))
      if (!hold || size < heldFromBytes) return resolve(Buffer.concat(pieces).toString('utf8'))
      resolve(hold(size).then(() => Buffer.concat(pieces).toString('utf8')))
    })
  })
}

export const unreadableAnswer = 'The provider sent an answer that cannot be read'
export const connectionLost = 'The connection to the provider was lost'

const failures = new Map<string, [ProviderErrorKind, string]>([
  ['UND_ERR_HEADERS_TIMEOUT', ['timeout', 'The provider did not begin to answer in time']],
  ['UND_ERR_BODY_TIMEOUT', ['timeout', 'The provider stopped sending before the end of its response']],
  ['UND_ERR_HEADERS_OVERFLOW', ['malformed', 'The head of the answer is too large']],
])
const connectFailures = keys('ENOTFOUND EAI_AGAIN ECONNREFUSED EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT')

export function transportError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof AddressRefused) return new ProviderError('misconfigured', error.message)
  const code = codeOf(error)
  const known = failures.get(code)
  if (known) return new ProviderError(...known)
  if (code.startsWith('HPE_')) return new ProviderError('malformed', unreadableAnswer)
  if (code.startsWith('ERR_TLS') || code.includes('CERT')) {
    return new ProviderError('unavailable', 'The TLS certificate of the provider is not valid')
  }
  return new ProviderError('unavailable', connectFailures.has(code) ? 'The provider cannot be reached' : connectionLost)
}

// If a name has several addresses, Node's AggregateError has the code of the first failure.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause)
}
