/** The `openai` client on our transport, one per provider entry; it builds requests and reads errors, we do the rest. */
import OpenAI, { AzureOpenAI, type ClientOptions } from 'openai'
import type { ResolvedProvider } from '../../../features/providers/model-driver.ts'
import type { LeanTransport } from '../transport/lean-fetch.ts'
import { azureAddress } from './azure.ts'
import { baseUrlOf } from './kinds.ts'

export type ClientOf = (provider: ResolvedProvider) => OpenAI

// Above every limit of ours: the client's own timer must not be what ends a call.
const clientTimeoutMs = 2_000_000_000

/** Clients live as long as the entry's object, which is replaced when the entry changes. */
export function openaiClients(transport: LeanTransport): ClientOf {
  const clients = new WeakMap<ResolvedProvider, OpenAI>()
  return (provider) => {
    const known = clients.get(provider)
    if (known) return known
    const client = createClient(transport, provider)
    clients.set(provider, client)
    return client
  }
}

function createClient(transport: LeanTransport, provider: ResolvedProvider): OpenAI {
  const options = {
    baseURL: baseUrlOf(provider),
    apiKey: provider.token,
    // What is not given here is read from the process's environment, which belongs to other entries or to nobody.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: clientTimeoutMs,
    fetch: (url: string | URL | Request, init?: RequestInit) => send(transport, provider, String(url), init ?? {}),
  } satisfies ClientOptions
  const apiVersion = provider.kind === 'azure' ? azureAddress(provider)?.apiVersion : undefined
  return apiVersion === undefined ? new OpenAI(options) : new AzureOpenAI({ ...options, apiVersion })
}

/** How an entry proves who it is. */
export function authentication(provider: ResolvedProvider): Record<string, string> {
  const isAzure = provider.kind === 'azure' && azureAddress(provider) !== undefined
  return isAzure ? { 'api-key': provider.token } : { authorization: `Bearer ${provider.token}` }
}

/** The headers by which OpenAI tells organizations and projects apart. */
export function accountHeaders({ configuration }: ResolvedProvider): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const key of ['organization', 'project']) {
    const value = configuration[key]
    if (typeof value === 'string') headers[`openai-${key}`] = value
  }
  return headers
}

async function send(
  transport: LeanTransport,
  provider: ResolvedProvider,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const body = String(init.body)
  const headers = init.headers as Record<string, string>
  const response = await transport.send({
    url,
    headers,
    body,
    isStream: headers['accept'] === 'text/event-stream',
    isTrusted: provider.trustedAddress,
    signal: init.signal ?? new AbortController().signal,
  })
  // As much of a Response as the client touches; the body stays undici's stream, on purpose.
  return response as unknown as Response
}
