/** The transport of provider calls: undici's `request` with one keep-alive pool per origin. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Agent } from 'undici'
import { type GuardSettings, guardedConnect } from './guarded-connect.ts'
import type { ProviderLimits } from './limits.ts'
import { readWhole } from './read-whole.ts'
import { transportError } from './transport-error.ts'

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
