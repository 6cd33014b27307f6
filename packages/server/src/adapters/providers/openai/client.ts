/** The driver for OpenAI's protocols. The `openai` client builds address and headers, and stet sends them (ADR 38). */
import { LRUCache } from 'lru-cache'
import type { OpenAI } from 'openai'
import type { ModelDriver, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { type CallDeps, protocolDriver } from '../protocol-driver.ts'
import { requestHeaders } from '../request/body.ts'
import type { BuiltRequest } from '../transport/transport.ts'
import { ChatReader } from './chat/answer.ts'
import { chatBody } from './chat/request.ts'
import { type OpenaiService, openaiService, servesResponses } from './kinds.ts'
import { ResponseReader } from './responses/answer.ts'
import { responsesBody } from './responses/request.ts'

const chat = { path: '/chat/completions', bodyOf: chatBody, Reader: ChatReader }
const responses = { path: '/responses', bodyOf: responsesBody, Reader: ResponseReader }

const maxHeads = 20

/** @throws RunError `ai_provider_config_error` for a provider key without a usable address or endpoint. */
export function openaiDriver(deps: CallDeps, provider: ProviderSettings): ModelDriver {
  const service = openaiService(provider)
  const { azure, baseUrl } = service
  const protocol = servesResponses(provider) ? responses : chat
  // The driver lives as long as its provider key stays the same, so what the service refuses is refused once.
  let isUsageRefused = false
  // Azure's dated API has one path per deployment. `build` escapes the name, but the client would not.
  const isDeployed = azure?.apiVersion !== undefined && protocol === chat && !baseUrl.includes('/deployments')
  const { search } = new URL(baseUrl)
  let client: Promise<OpenAI> | undefined
  // Building them costs 50 µs. They depend on the provider key and the prompt only, not on the body.
  const heads = new LRUCache<string, Omit<BuiltRequest, 'body'>>({ max: maxHeads })
  return protocolDriver(deps, provider, {
    async build(request) {
      const body = protocol.bodyOf(isUsageRefused ? { ...service, asksForUsage: false } : service, request)
      const headers = requestHeaders(service, request)
      const path = isDeployed ? `/deployments/${deploymentSegment(request.model)}${protocol.path}` : protocol.path
      const key = JSON.stringify([path, headers])
      let head = heads.get(key)
      if (!head) {
        client ??= createClient(service)
        const built = await (await client).buildRequest({ method: 'post', path, body, headers })
        const url = new URL(built.url)
        head = {
          url: search === '' ? url : withQuery(search, url),
          headers: Object.fromEntries(built.req.headers),
        }
        heads.set(key, head)
      }
      // The client encodes every object as JSON text too.
      return { ...head, body: JSON.stringify(body) }
    },
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

/** Removes the client's headers about this machine and process, which providers do not need. */
const machineHeaders = Object.fromEntries(
  'lang package-version os arch runtime runtime-version async retry-count timeout'
    .split(' ')
    .map((name) => [`x-stainless-${name}`, null]),
)

/** Loads the `openai` package on the first call, because loading takes 12 MB and 100 ms. */
async function createClient({ azure, baseUrl, configuration, token }: OpenaiService): Promise<OpenAI> {
  const { AzureOpenAI, OpenAI } = await import('openai')
  // The client would add the headers of this variable to every request. These headers could replace the authentication.
  delete process.env['OPENAI_CUSTOM_HEADERS']
  const options = {
    apiKey: token,
    adminAPIKey: null,
    baseURL: withoutQuery(baseUrl),
    organization: textOrNull(configuration['organization']),
    project: textOrNull(configuration['project']),
    webhookSecret: null,
    logLevel: 'off' as const,
    maxRetries: 0,
    defaultHeaders: machineHeaders,
  }
  if (!azure) return new OpenAI(options)
  if (azure.apiVersion !== undefined) return new AzureOpenAI({ ...options, apiVersion: azure.apiVersion })
  return new OpenAI({ ...options, defaultHeaders: { ...machineHeaders, authorization: null, 'api-key': token } })
}

/**
 * A server could resolve a name with slashes or only dots to another path, even if the name is escaped.
 * @throws ProviderError `misconfigured` for an empty name, a name of dots, or a name with a slash or backslash.
 */
function deploymentSegment(model: string): string {
  if (/[/\\]|^\.*$/.test(model)) {
    throw new ProviderError('misconfigured', `'${model.slice(0, 100)}' is not the name of an Azure deployment`)
  }
  return encodeURIComponent(model)
}

/** @param search the base URL's query string, added to every request. Repeated names are kept. */
function withQuery(search: string, url: URL): URL {
  const added = [...url.searchParams]
  url.search = search
  for (const [name, value] of added) url.searchParams.append(name, value)
  return url
}

/** The client appends paths to the base URL as text, so the base URL must have no query string. */
function withoutQuery(address: string): string {
  const url = new URL(address)
  url.search = ''
  return url.href.replace(/\/$/, '')
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
