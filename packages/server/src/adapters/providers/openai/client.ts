/** The driver for OpenAI's protocols. Only the types of the vendor's package are used (ADR 38). */
import { defined } from '@stet/template/defined'
import type { ModelDriver, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { type CallDeps, protocolDriver } from '../protocol-driver.ts'
import { requestHeaders } from '../request/body.ts'
import { ChatReader } from './chat/answer.ts'
import { chatBody } from './chat/request.ts'
import { type OpenaiService, openaiService, servesResponses } from './kinds.ts'
import { ResponseReader } from './responses/answer.ts'
import { responsesBody } from './responses/request.ts'

const chat = { path: '/chat/completions', bodyOf: chatBody, Reader: ChatReader }
const responses = { path: '/responses', bodyOf: responsesBody, Reader: ResponseReader }

/** @throws RunError `ai_provider_config_error` for a provider key without a usable address or endpoint. */
export function openaiDriver(deps: CallDeps, provider: ProviderSettings): ModelDriver {
  const service = openaiService(provider)
  const { azure, baseUrl, configuration, token } = service
  const protocol = servesResponses(provider) ? responses : chat
  // Azure's dated API has one path per deployment.
  const isDeployed = azure?.apiVersion !== undefined && protocol === chat && !baseUrl.includes('/deployments')
  const authentication = azure ? { 'api-key': token } : { authorization: `Bearer ${token}` }
  const owner = {
    'openai-organization': textOrNothing(configuration['organization']),
    'openai-project': textOrNothing(configuration['project']),
  }
  // The driver lives as long as its provider key stays the same, so what the service refuses is refused once.
  let isUsageRefused = false
  return protocolDriver(deps, provider, {
    build: async (request) => ({
      url: addressOf(service, `${isDeployed ? deploymentPath(request.model) : ''}${protocol.path}`),
      headers: requestHeaders(service, request, authentication, defined(owner)),
      body: JSON.stringify(protocol.bodyOf(isUsageRefused ? { ...service, asksForUsage: false } : service, request)),
    }),
    isAdaptedTo({ status, providerMessage = '' }) {
      const isRefused = (status === 400 || status === 422) && /stream_options|include_usage/.test(providerMessage)
      if (!isRefused || !service.asksForUsage) return false
      // Also true if a concurrent call has found out first: this request still asked.
      isUsageRefused = true
      return true
    },
    readerOf: (request) => new protocol.Reader(service, request),
  })
}

/** Keeps the base address's query, and adds the version of Azure's API. */
function addressOf({ azure, baseUrl }: OpenaiService, path: string): URL {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  if (azure?.apiVersion !== undefined) url.searchParams.append('api-version', azure.apiVersion)
  return url
}

/**
 * A server could resolve a name with slashes or only dots to another path, even if the name is escaped.
 * @throws ProviderError `misconfigured` for an empty name, a name of dots, or a name with a slash or backslash.
 */
function deploymentPath(model: string): string {
  if (/[/\\]|^\.*$/.test(model)) {
    throw new ProviderError('misconfigured', `'${model.slice(0, 100)}' is not the name of an Azure deployment`)
  }
  return `/deployments/${encodeURIComponent(model)}`
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
