/** The driver for OpenAI's Responses protocol. A provider key selects it by its `endpoint`. */
import type { ModelDriver } from '../../../../features/providers/model-driver.ts'
import { protocolDriver } from '../../protocol-driver.ts'
import type { ProviderLimits } from '../../transport/limits.ts'
import { type OpenaiDeps, openaiCall } from '../calls.ts'
import { responsesBody } from './body.ts'
import { plainResponse, responseReader } from './chunks.ts'

export function openaiResponsesDriver(deps: OpenaiDeps, limits: ProviderLimits): ModelDriver {
  return protocolDriver(limits, (request) => {
    const { provider } = request
    return {
      send: openaiCall(deps, request, { path: '/responses', body: responsesBody(request) }),
      reader: () => responseReader(provider),
      readPlain: (text) => plainResponse(text, provider),
    }
  })
}
