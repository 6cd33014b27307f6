/** The driver for services that speak OpenAI chat completions. */
import type { ModelDriver } from '../../../../features/providers/model-driver.ts'
import { protocolDriver } from '../../protocol-driver.ts'
import type { ProviderLimits } from '../../transport/limits.ts'
import { type OpenaiDeps, openaiCall } from '../calls.ts'
import { chatBody } from './body.ts'
import { chunkReader, plainChunks } from './chunks.ts'

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
