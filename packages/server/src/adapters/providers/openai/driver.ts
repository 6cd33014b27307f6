/** The driver for services that speak chat completions or the Responses protocol. */
import type { OpenAI } from 'openai'
import type { ModelDriver, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { type CallDeps, protocolDriver } from '../protocol-driver.ts'
import { chunkReader, plainChunks } from './chat/answer.ts'
import { chatBody } from './chat/body.ts'
import { createClient, requestBuilder } from './client.ts'
import { plainResponse, responseReader } from './responses/answer.ts'
import { responsesBody } from './responses/body.ts'
import { openaiService, servesResponses } from './service.ts'

/** @throws RunError `ai_provider_config_error` */
export function openaiDriver(deps: CallDeps, provider: ProviderSettings): ModelDriver {
  const service = openaiService(provider)
  const isResponses = servesResponses(provider)
  let created: Promise<OpenAI> | undefined
  const client = () => {
    created ??= createClient(service)
    return created
  }
  return protocolDriver(deps, provider, (request) => {
    const sent = isResponses
      ? { path: '/responses' as const, body: responsesBody(service, request) }
      : { path: '/chat/completions' as const, body: chatBody(service, request) }
    return {
      build: requestBuilder(service, client, request, sent),
      reader: () => (isResponses ? responseReader(service) : chunkReader(service)),
      readPlain: (text) => (isResponses ? plainResponse(text, service) : plainChunks(text, service)),
    }
  })
}
