/** Requests of OpenAI's protocols, for every service that speaks them: where they go and how an entry proves who it is. */
import type { ModelRequest, ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import type { PreparedCall } from '../protocol-driver.ts'
import { requestHeaders } from '../request/headers.ts'
import { type CallDeps, sendCall } from '../send-call.ts'
import { azureAddress } from './azure.ts'
import { baseUrlOf } from './kinds.ts'

type Path = '/chat/completions' | '/responses'

/** @throws ProviderError for headers that cannot be set, or a model that cannot be part of the address. */
export function openaiCall(
  deps: CallDeps,
  request: ModelRequest,
  { path, body }: { path: Path; body: object },
): PreparedCall['send'] {
  const { provider, model } = request
  const sent = {
    url: openaiUrl(provider, path, model),
    headers: requestHeaders(request, authentication(provider), accountHeaders(provider)),
    body: JSON.stringify(body),
  }
  return () => sendCall(deps, request, sent)
}

// An entry is the same object until it changes; addresses with the name of a model in them are not kept.
const plainUrls = new WeakMap<ResolvedProvider, Map<Path, URL>>()

function openaiUrl(provider: ResolvedProvider, path: Path, model: string): URL {
  const version = provider.kind === 'azure' ? azureAddress(provider)?.apiVersion : undefined
  if (version !== undefined) return datedUrl(baseUrlOf(provider), path, { model, version })
  const own = plainUrls.get(provider) ?? new Map<Path, URL>()
  const url = own.get(path) ?? under(baseUrlOf(provider), path)
  plainUrls.set(provider, own.set(path, url))
  return url
}

/** Azure's older addresses: one path for each deployment. */
function datedUrl(base: string, path: Path, { model, version }: { model: string; version: string }): URL {
  const isDeployed = path === '/chat/completions' && !base.includes('/deployments')
  const url = under(base, isDeployed ? `/deployments/${deploymentSegment(model)}${path}` : path)
  url.searchParams.set('api-version', version)
  return url
}

/** @throws ProviderError for a name that a server could read as more than one segment, escaped or not. */
function deploymentSegment(model: string): string {
  if (/[/\\]|^\.*$/.test(model)) {
    throw new ProviderError('misconfigured', `'${model.slice(0, 100)}' is not the name of an Azure deployment`)
  }
  return encodeURIComponent(model)
}

/** A path under a base address, whose own query stays. */
function under(base: string, path: string): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  return url
}

function authentication(provider: ResolvedProvider): Record<string, string> {
  const isAzure = provider.kind === 'azure' && azureAddress(provider) !== undefined
  return isAzure ? { 'api-key': provider.token } : { authorization: `Bearer ${provider.token}` }
}

/** The headers by which OpenAI tells organizations and projects apart. */
function accountHeaders({ configuration }: ResolvedProvider): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const key of ['organization', 'project']) {
    const value = configuration[key]
    if (typeof value === 'string') headers[`openai-${key}`] = value
  }
  return headers
}
