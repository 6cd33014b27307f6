/** The drivers of OpenAI's two protocols. */
import type { ModelDriver } from '../../../features/providers/model-driver.ts'
import { protocolDriver } from '../protocol-driver.ts'
import type { ProviderLimits } from '../transport/transport.ts'
import { chunkReader, plainChunks } from './chat/answer.ts'
import { chatBody } from './chat/body.ts'
import { type OpenaiDeps, openaiCall } from './client.ts'
import { plainResponse, responseReader } from './responses/answer.ts'
import { responsesBody } from './responses/body.ts'

export function openaiChatDriver(deps: OpenaiDeps, limits: ProviderLimits): ModelDriver {
  return protocolDriver(limits, (request) => {
    const { provider } = request
    return {
      send: openaiCall(deps, request, { path: '/chat/completions', body: chatBody(request) }),
      reader: () => chunkReader(provider),
      readPlain: (text) => plainChunks(text, provider),
    }
  })
}

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
