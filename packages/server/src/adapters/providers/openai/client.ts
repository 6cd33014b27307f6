/** One `openai` client per provider key. It builds the requests; our transport sends them (ADR 38). */
import { LRUCache } from 'lru-cache'
import type { OpenAI } from 'openai'
import type { ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { azureAddress } from './azure.ts'
import { baseUrlOf } from './kinds.ts'

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
