/** The driver for Anthropic's Messages API. Only the types of the vendor's package are used (ADR 11). */
import type { ModelDriver, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { type CallDeps, protocolDriver } from '../protocol-driver.ts'
import { requestHeaders } from '../request/headers.ts'
import { messageReader, plainMessage } from './answer.ts'
import { anthropicBody } from './body.ts'

const apiVersion = '2023-06-01'
const ownAddress = 'https://api.anthropic.com'

export function anthropicDriver(deps: CallDeps, provider: ProviderSettings): ModelDriver {
  return protocolDriver(deps, provider, (request) => {
    const { schema } = request
    const own = { 'x-api-key': provider.token }
    const sent = {
      url: messagesUrl(provider.url ?? ownAddress),
      headers: requestHeaders(provider, request, own, { 'anthropic-version': apiVersion }),
      body: JSON.stringify(anthropicBody(provider, request)),
    }
    return {
      build: async () => sent,
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
