import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import { RunError } from '../../../shared/app-error.ts'
import { asText } from '../json.ts'
import { keys } from '../request/settings.ts'
import { type KindTraits, traitsOfKind, unsampled } from './kinds.ts'

export interface OpenaiService extends ProviderSettings {
  traits: KindTraits
  baseUrl: string
  /** True for OpenAI itself, which supports newer roles and parameter names. */
  isOpenai: boolean
  azure: AzureAddress | undefined
}

/** An Azure resource's address. With an API version it is the older form, which has one path per deployment. */
interface AzureAddress {
  baseUrl: string
  apiVersion?: string
}

/** @throws RunError `ai_provider_config_error` for a provider key without a usable address. */
export function openaiService(provider: ProviderSettings): OpenaiService {
  const azure = provider.kind === 'azure' ? azureAddress(provider) : undefined
  const own = traitsOfKind(provider.kind)
  const baseUrl = azure?.baseUrl ?? provider.url ?? own.baseUrl
  if (baseUrl === undefined) throw noAddress(provider)
  const isOpenai = provider.kind === 'openai' && new URL(baseUrl).hostname === 'api.openai.com'
  return { ...provider, traits: traitsAt(provider.kind, own, { isOpenai, azure }), baseUrl, isOpenai, azure }
}

/** @throws RunError `ai_provider_config_error` for a kind that only supports chat completions. */
export function servesResponses({ name, kind, configuration }: ProviderSettings): boolean {
  if (configuration['endpoint'] !== 'responses') return false
  if (kind === 'openai' || kind === 'custom' || kind === 'azure') return true
  throw configError(name, `kind '${kind}' has no endpoint 'responses'`)
}

function traitsAt(
  kind: string,
  own: KindTraits,
  { isOpenai, azure }: Pick<OpenaiService, 'isOpenai' | 'azure'>,
): KindTraits {
  if (kind === 'azure' && (azure?.apiVersion ?? '9') < '2024-12') return { ...own, takesDeveloper: false }
  if (kind !== 'openai') return own
  // Compatible services may accept settings that OpenAI's own API rejects.
  return { ...own, refused: isOpenai ? keys(unsampled) : new Set() }
}

/** @throws RunError `ai_provider_config_error` for an invalid resource name or base URL. */
function azureAddress({ name, configuration, url }: ProviderSettings): AzureAddress | undefined {
  const resource = asText(configuration['resourceName'])
  const given = asText(configuration['baseUrl'])
  const version = asText(configuration['apiVersion'])
  const isDated = version !== '' && version !== 'v1'
  const apiVersion = isDated ? { apiVersion: version } : {}
  if (given !== '') {
    if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
      throw configError(name, 'configuration.baseUrl must be an http or https URL')
    }
    return { baseUrl: given, ...apiVersion }
  }
  if (resource === '') return url !== null && isDated ? { baseUrl: url, ...apiVersion } : undefined
  // The name becomes part of a host name, so any other character could select another host.
  if (!/^[a-zA-Z0-9][a-zA-Z0-9-]*$/.test(resource)) throw configError(name, 'configuration.resourceName is not valid')
  const base = `https://${resource}.openai.azure.com/openai`
  return { baseUrl: isDated ? base : `${base}/v1`, ...apiVersion }
}

function noAddress({ name, kind }: ProviderSettings): RunError {
  const needed =
    kind === 'azure' ? 'resourceName or baseUrl in its configuration, or a url' : 'an OpenAI-compatible url'
  return new RunError('ai_provider_config_error', `Provider kind '${kind}' needs ${needed}`, {
    details: { provider: name },
  })
}

function configError(name: string, reason: string): RunError {
  return new RunError('ai_provider_config_error', `Provider '${name}': ${reason}`, { details: { provider: name } })
}
