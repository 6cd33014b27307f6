import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import { RunError } from '../../../shared/app-error.ts'
import { asText } from '../json.ts'
import { type KindTraits, traitsOfKind } from './kinds.ts'

export interface OpenaiService extends ProviderSettings {
  traits: KindTraits
  baseUrl: string
  /** True for OpenAI's own API. Most compatible services accept only older parameter names. */
  isOpenai: boolean
  azure: AzureAddress | undefined
  /** False for services that reject `stream_options`. Some of them report usage without it. */
  asksForUsage: boolean
}

/** The address of an Azure resource. `apiVersion` selects the older API with one path per deployment. */
interface AzureAddress {
  baseUrl: string
  apiVersion: string | undefined
}

/** @throws RunError `ai_provider_config_error` for a provider key without a usable address. */
export function openaiService(provider: ProviderSettings): OpenaiService {
  const { name, kind } = provider
  const azure = kind === 'azure' ? azureAddress(provider) : undefined
  const traits = { ...traitsOfKind(kind) }
  const baseUrl = azure?.baseUrl ?? provider.url ?? traits.baseUrl
  if (baseUrl === undefined) {
    const needed =
      kind === 'azure' ? 'resourceName or baseUrl in its configuration, or a url' : 'an OpenAI-compatible url'
    throw configError(name, `Provider kind '${kind}' needs ${needed}`)
  }
  const isOpenai = kind === 'openai' && new URL(baseUrl).hostname === 'api.openai.com'
  if (kind === 'azure' && (azure?.apiVersion ?? '9') < '2024-12') traits.takesDeveloper = false
  // Compatible services may accept settings that OpenAI's own API rejects.
  if (kind === 'openai' && !isOpenai) traits.refused = new Set()
  // Azure's older API versions reject `stream_options`.
  const isRefused = traits.usageUnasked || (kind === 'azure' && !isNewAzure(azure))
  const asksForUsage = !isRefused && provider.configuration['streamOptions'] !== false
  return { ...provider, traits, baseUrl, isOpenai, azure, asksForUsage }
}

export function isNewAzure(azure: AzureAddress | undefined): boolean {
  return azure !== undefined && (azure.apiVersion ?? '9') >= '2024-09'
}

/** @throws RunError `ai_provider_config_error` for endpoint `responses` with a kind that lacks this endpoint. */
export function servesResponses({ name, kind, configuration }: ProviderSettings): boolean {
  if (configuration['endpoint'] !== 'responses') return false
  if (kind === 'openai' || kind === 'custom' || kind === 'azure') return true
  throw configError(name, `Provider '${name}': kind '${kind}' has no endpoint 'responses'`)
}

/** @throws RunError `ai_provider_config_error` for an invalid resource name or base URL. */
function azureAddress({ name, configuration, url }: ProviderSettings): AzureAddress | undefined {
  const resource = asText(configuration['resourceName'])
  const given = asText(configuration['baseUrl'])
  const version = asText(configuration['apiVersion'])
  const apiVersion = version === '' || version === 'v1' ? undefined : version
  if (given !== '') {
    if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
      throw configError(name, `Provider '${name}': configuration.baseUrl must be an http or https URL`)
    }
    return { baseUrl: given, apiVersion }
  }
  if (resource === '') return url !== null && apiVersion ? { baseUrl: url, apiVersion } : undefined
  // The name becomes part of a host name, so any other character could select another host.
  if (!/^[a-zA-Z0-9][a-zA-Z0-9-]*$/.test(resource)) {
    throw configError(name, `Provider '${name}': configuration.resourceName is not valid`)
  }
  const base = `https://${resource}.openai.azure.com/openai`
  return { baseUrl: apiVersion ? base : `${base}/v1`, apiVersion }
}

function configError(provider: string, message: string): RunError {
  return new RunError('ai_provider_config_error', message, { details: { provider } })
}
