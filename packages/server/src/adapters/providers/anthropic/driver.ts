/** The driver for Anthropic's Messages API, spoken natively: the vendor's package lends its types and nothing else. */
import type { ModelDriver, ModelRequest } from '../../../features/providers/model-driver.ts'
import type { Clock } from '../../../shared/clock.ts'
import { protocolDriver } from '../protocol-driver.ts'
import { requestHeaders } from '../request/headers.ts'
import type { LeanResponse, LeanTransport } from '../transport/lean-fetch.ts'
import type { ProviderLimits } from '../transport/limits.ts'
import { anthropicBody } from './body.ts'
import { messageReader, plainMessage } from './chunks.ts'
import { anthropicFailure } from './errors.ts'

const apiVersion = '2023-06-01'
const ownAddress = 'https://api.anthropic.com'

export function anthropicDriver(transport: LeanTransport, limits: ProviderLimits, clock: Clock): ModelDriver {
  return protocolDriver(limits, (request) => {
    const { provider, schema } = request
    const body = JSON.stringify(anthropicBody(request))
    const headers = requestHeaders(request, { 'x-api-key': provider.token }, { 'anthropic-version': apiVersion })
    return {
      send: () => send({ transport, clock }, request, { body, headers }),
      reader: () => messageReader(provider, schema),
      readPlain: (text) => plainMessage(text, provider, schema),
    }
  })
}

async function send(
  deps: { transport: LeanTransport; clock: Clock },
  { provider, signal, stream }: ModelRequest,
  { body, headers }: { body: string; headers: Record<string, string> },
): Promise<LeanResponse> {
  const response = await deps.transport.send({
    url: messagesUrl(provider.url ?? ownAddress),
    headers,
    body,
    isStream: stream,
    isTrusted: provider.trustedAddress,
    signal,
  })
  if (response.ok) return response
  throw anthropicFailure(response, await response.text(), { token: provider.token, now: deps.clock.now() })
}

/** Base addresses are written with and without the version. */
export function messagesUrl(base: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/messages`
  return url.href
}
