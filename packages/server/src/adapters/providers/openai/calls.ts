/** Requests of OpenAI's protocols: the `openai` client builds them, the shared transport sends them. */
import type { ModelRequest, ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import type { PreparedCall } from '../protocol-driver.ts'
import { requestHeaders } from '../request/headers.ts'
import { type CallDeps, sendCall } from '../send-call.ts'
import { azureAddress } from './azure.ts'
import type { OpenaiClients } from './client.ts'
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
