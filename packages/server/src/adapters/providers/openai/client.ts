/** Requests of OpenAI's protocols: the `openai` client builds them, our transport sends them (ADR 38). */
import type { OpenAI } from 'openai'
import type { ModelRequest } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { requestHeaders } from '../request/headers.ts'
import type { LeanRequest } from '../transport/transport.ts'
import type { OpenaiService } from './service.ts'

type BuiltRequest = Pick<LeanRequest, 'url' | 'headers' | 'body'>
type Path = '/chat/completions' | '/responses'

/** Headers that describe this machine and process. Providers do not need them. */
const machineHeaders = Object.fromEntries(
  'lang package-version os arch runtime runtime-version async retry-count timeout'
    .split(' ')
    .map((name) => [`x-stainless-${name}`, null]),
)

/** @throws ProviderError for headers that cannot be set, or a model that cannot be part of the address. */
export function requestBuilder(
  service: OpenaiService,
  client: () => Promise<OpenAI>,
  request: ModelRequest,
  { path, body }: { path: Path; body: object },
): () => Promise<BuiltRequest> {
  const headers = requestHeaders(service, request)
  const address = pathFor(service, path, request.model)
  return async () => {
    const built = await (await client()).buildRequest({ method: 'post', path: address, body, headers })
    return {
      url: withQueryOf(service.baseUrl, built.url),
      headers: Object.fromEntries(built.req.headers),
      // The client's encoder makes JSON text of every object.
      body: String(built.req.body),
    }
  }
}

/** The `openai` package is loaded by the first call, because it takes 12 MB and 100 ms. */
export async function createClient({ azure, baseUrl, configuration, token }: OpenaiService): Promise<OpenAI> {
  const { AzureOpenAI, OpenAI } = await import('openai')
  // The client adds these headers to every request, and they could replace its own authentication.
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
  if (azure?.apiVersion !== undefined) return new AzureOpenAI({ ...options, apiVersion: azure.apiVersion })
  if (!azure) return new OpenAI(options)
  return new OpenAI({ ...options, defaultHeaders: { ...machineHeaders, authorization: null, 'api-key': token } })
}

/** Azure's dated addresses have one path per deployment. The client would insert the name unescaped. */
function pathFor({ azure, baseUrl }: OpenaiService, path: Path, model: string): string {
  const isDated = azure?.apiVersion !== undefined
  const isDeployed = isDated && path === '/chat/completions' && !baseUrl.includes('/deployments')
  return isDeployed ? `/deployments/${deploymentSegment(model)}${path}` : path
}

/** @throws ProviderError for a name that a server could read as more than one segment, escaped or not. */
function deploymentSegment(model: string): string {
  if (/[/\\]|^\.*$/.test(model)) {
    throw new ProviderError('misconfigured', `'${model.slice(0, 100)}' is not the name of an Azure deployment`)
  }
  return encodeURIComponent(model)
}

/** The query of the base address is part of every call's address, repeated names included. */
function withQueryOf(base: string, address: string): URL {
  const url = new URL(address)
  const added = [...url.searchParams]
  url.search = new URL(base).search
  for (const [name, value] of added) url.searchParams.append(name, value)
  return url
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
