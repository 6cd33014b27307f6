/** The driver for services that speak OpenAI's Responses protocol; an entry chooses it by its `endpoint`. */
import type { ModelDriver } from '../../../../features/providers/model-driver.ts'
import { protocolDriver } from '../../protocol-driver.ts'
import type { ProviderLimits } from '../../transport/limits.ts'
import type { OpenaiCalls } from '../calls.ts'
import { responsesBody } from './body.ts'
import { plainResponse, responseReader } from './chunks.ts'

export function openaiResponsesDriver(calls: OpenaiCalls, limits: ProviderLimits): ModelDriver {
  return protocolDriver(limits, (request) => {
    const body = responsesBody(request)
    const { provider } = request
    return {
      send: calls.sender(request, (client, options) => client.responses.create(body, options).asResponse()),
      reader: () => responseReader(provider),
      readPlain: (text) => plainResponse(text, provider),
    }
  })
}
