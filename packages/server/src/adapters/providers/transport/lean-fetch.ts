/** The transport under provider clients: undici's request with one keep-alive pool per origin, and nothing that adapts. */
import { STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'
import { type GuardSettings, guardedConnect } from './guarded-connect.ts'
import type { ProviderLimits } from './limits.ts'
import { readWhole } from './read-whole.ts'
import { transportError } from './transport-error.ts'

interface LeanRequest {
  url: string
  headers: Record<string, string>
  body: string
  /** Streamed answers must begin earlier and may not fall silent for long. */
  isStream: boolean
  /** The operator gave the address: it is not checked. */
  isTrusted: boolean
  signal: AbortSignal
}

/** As much of a fetch response as provider clients use; `body` is undici's own stream. */
export interface LeanResponse {
  ok: boolean
  status: number
  statusText: string
  url: string
  headers: Headers
  body: Readable
  text(): Promise<string>
  json(): Promise<unknown>
}

export interface LeanTransport {
  /** @throws ProviderError; what `signal` aborts rejects with an error of undici. */
  send(request: LeanRequest): Promise<LeanResponse>
  close(): Promise<void>
}

export function leanTransport(guard: GuardSettings, limits: ProviderLimits): LeanTransport {
  const options: Agent.Options = { maxHeaderSize: limits.headBytes, keepAliveTimeout: 30_000, pipelining: 1 }
  // Two agents: a connection that was opened without the check must never serve a request that needs it.
  const checked = new Agent({ ...options, connect: guardedConnect(guard, limits.connectMs) })
  const trusted = new Agent({ ...options, connect: { timeout: limits.connectMs } })
  return {
    async send(request) {
      const { origin, pathname, search } = new URL(request.url)
      const silenceMs = request.isStream ? limits.silenceMs : limits.plainMs
      try {
        const answer = await (request.isTrusted ? trusted : checked).request({
          origin,
          path: pathname + search,
          method: 'POST',
          headers: { ...request.headers, 'accept-encoding': 'identity' },
          body: request.body,
          signal: request.signal,
          headersTimeout: request.isStream ? limits.firstByteMs : limits.plainMs,
          bodyTimeout: silenceMs,
        })
        return leanResponse(request.url, answer, limits.plainBytes)
      } catch (error) {
        throw request.signal.aborted ? error : transportError(error)
      }
    },
    async close() {
      await Promise.all([checked.destroy(), trusted.destroy()])
    },
  }
}

function leanResponse(url: string, answer: Dispatcher.ResponseData, limitBytes: number): LeanResponse {
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const { statusCode: status, body } = answer
  const text = () => readWhole(body, limitBytes)
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: STATUS_CODES[status] ?? '',
    url,
    headers,
    body,
    text,
    json: async () => JSON.parse(await text()),
  }
}
