/** The driver for Anthropic's Messages API. Only the types of the vendor's package are used (ADR 11). */
import type { ModelDriver } from '../../../features/providers/model-driver.ts'
import { type CallDeps, protocolDriver, sendCall } from '../protocol-driver.ts'
import { requestHeaders } from '../request/headers.ts'
import type { ProviderLimits } from '../transport/transport.ts'
import { messageReader, plainMessage } from './answer.ts'
import { anthropicBody } from './body.ts'

const apiVersion = '2023-06-01'
const ownAddress = 'https://api.anthropic.com'

export function anthropicDriver(deps: CallDeps, limits: ProviderLimits): ModelDriver {
  return protocolDriver(limits, (request) => {
    const { provider, schema } = request
    const sent = {
      url: messagesUrl(provider.url ?? ownAddress),
      headers: requestHeaders(request, { 'x-api-key': provider.token }, { 'anthropic-version': apiVersion }),
      body: JSON.stringify(anthropicBody(request)),
    }
    return {
      send: () => sendCall(deps, request, sent),
      reader: () => messageReader(provider, schema),
      readPlain: (text) => plainMessage(text, provider, schema),
    }
  })
}

/** People write base addresses with and without the version. */
export function messagesUrl(base: string): URL {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '')}/v1/messages`
  return url
}
