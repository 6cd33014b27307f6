/** The driver for services that speak OpenAI chat completions. */
import type { ModelDriver } from '../../../../features/providers/model-driver.ts'
import { protocolDriver } from '../../protocol-driver.ts'
import type { ProviderLimits } from '../../transport/limits.ts'
import type { OpenaiCalls } from '../calls.ts'
import { chatBody } from './body.ts'
import { chunkReader, plainChunks } from './chunks.ts'

export function openaiChatDriver(calls: OpenaiCalls, limits: ProviderLimits): ModelDriver {
  return protocolDriver(limits, (request) => {
    const body = chatBody(request)
    const { provider } = request
    return {
      send: calls.sender(request, (client, options) => client.chat.completions.create(body, options).asResponse()),
      reader: () => chunkReader(provider),
      readPlain: (text) => plainChunks(text, provider),
    }
  })
}
