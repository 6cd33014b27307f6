/** Requests of OpenAI's protocols: the `openai` client builds them, our transport sends them (ADR 38). */

import { LRUCache } from 'lru-cache'
import type { OpenAI } from 'openai'
import type { ModelRequest, ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { type CallDeps, type PreparedCall, sendCall } from '../protocol-driver.ts'
import { requestHeaders } from '../request/headers.ts'
import { azureAddress } from './azure.ts'
import { baseUrlOf } from './kinds.ts'

export type OpenaiDeps = CallDeps & { clients: OpenaiClients }

type Path = '/chat/completions' | '/responses'

/** @throws ProviderError for headers that cannot be set, or a model that cannot be part of the address. */
export function openaiCall(
  { clients, ...deps }: OpenaiDeps,
  request: ModelRequest,
  { path, body }: { path: Path; body: object },
): PreparedCall['send'] {
  const { provider, model } = request
  const headers = requestHeaders(request)
  // Before the first attempt: a name that cannot be sent is no reason to try again.
  const address = pathFor(provider, path, model)
  return async () => {
    const client = await clients(provider)
    const built = await client.buildRequest({ method: 'post', path: address, body, headers })
    return sendCall(deps, request, {
      url: withQueryOf(baseUrlOf(provider), built.url),
      headers: Object.fromEntries(built.req.headers),
      // The client's encoder makes JSON text of every object.
      body: String(built.req.body),
    })
  }
}

/** Azure's dated addresses have one path per deployment. The client puts the name there unescaped, so the path is made here. */
function pathFor(provider: ResolvedProvider, path: Path, model: string): string {
  const isDated = provider.kind === 'azure' && azureAddress(provider)?.apiVersion !== undefined
  const isDeployed = isDated && path === '/chat/completions' && !baseUrlOf(provider).includes('/deployments')
  return isDeployed ? `/deployments/${deploymentSegment(model)}${path}` : path
}

/** The query of a base address stays in the address of its calls, repeated names included. */
function withQueryOf(base: string, address: string): URL {
  const url = new URL(address)
  const added = [...url.searchParams]
  url.search = new URL(base).search
  for (const [name, value] of added) url.searchParams.append(name, value)
  return url
}

/** @throws ProviderError for a name that a server could read as more than one segment, escaped or not. */
function deploymentSegment(model: string): string {
  if (/[/\\]|^\.*$/.test(model)) {
    throw new ProviderError('misconfigured', `'${model.slice(0, 100)}' is not the name of an Azure deployment`)
  }
  return encodeURIComponent(model)
}

/** @throws RunError `ai_provider_config_error` for a provider key that names no usable address. */
export type OpenaiClients = (provider: ResolvedProvider) => Promise<OpenAI>

/** Headers that describe this machine and process: they are nobody's business. */
const machineHeaders = Object.fromEntries(
  'lang package-version os arch runtime runtime-version async retry-count timeout'
    .split(' ')
    .map((name) => [`x-stainless-${name}`, null]),
)

export function openaiClients(): OpenaiClients {
  const clients = new LRUCache<string, OpenAI>({ max: 500 })
  return async (provider) => {
    const { kind, token, url, configuration } = provider
    const key = JSON.stringify([kind, token, url, configuration])
    const client = clients.get(key) ?? (await createClient(provider))
    clients.set(key, client)
    return client
  }
}

async function createClient(provider: ResolvedProvider): Promise<OpenAI> {
  // Loaded by the first call: a server that only calls other protocols does not pay 12 MB and 100 ms for it.
  const { AzureOpenAI, OpenAI } = await import('openai')
  // The client adds these to every request, and lets them replace its own authentication.
  delete process.env['OPENAI_CUSTOM_HEADERS']
  const { configuration, token } = provider
  const azure = provider.kind === 'azure' ? azureAddress(provider) : undefined
  const options = {
    apiKey: token,
    adminAPIKey: null,
    baseURL: withoutQuery(baseUrlOf(provider)),
    organization: textOrNull(configuration['organization']),
    project: textOrNull(configuration['project']),
    webhookSecret: null,
    logLevel: 'off' as const,
    maxRetries: 0,
    defaultHeaders: machineHeaders,
  }
  if (azure?.apiVersion !== undefined) return new AzureOpenAI({ ...options, apiVersion: azure.apiVersion })
  if (!azure) return new OpenAI(options)
  return new OpenAI({ ...options, defaultHeaders: { ...machineHeaders, authorization: null, 'api-key': token } })
}

/** The client appends paths to the base address as text. */
function withoutQuery(address: string): string {
  const url = new URL(address)
  url.search = ''
  return url.href.replace(/\/$/, '')
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
