/** Where an Azure resource answers, by what its entry tells: an API version means the older addresses, one per deployment. */
import type { ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { RunError } from '../../../shared/app-error.ts'
import { asText } from '../json.ts'

export interface AzureAddress {
  baseUrl: string
  /** Undefined: the newer address, which is OpenAI's own in form. */
  apiVersion?: string
}

/**
 * Undefined for an entry that has a plain OpenAI-compatible `url` and says nothing of Azure.
 * @throws RunError `ai_provider_config_error` for what is no resource name or base address.
 */
export function azureAddress(provider: ResolvedProvider): AzureAddress | undefined {
  const { configuration, url } = provider
  const resource = asText(configuration['resourceName'])
  const given = asText(configuration['baseUrl'])
  const version = asText(configuration['apiVersion'])
  const isDated = version !== '' && version !== 'v1'
  const apiVersion = isDated ? { apiVersion: version } : {}
  if (given !== '') {
    if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
      throw configError(provider, 'configuration.baseUrl must be an http or https URL')
    }
    return { baseUrl: given, ...apiVersion }
  }
  if (resource === '') return url !== null && isDated ? { baseUrl: url, ...apiVersion } : undefined
  // It becomes part of a host name: anything else could lead to another host.
  if (!/^[a-zA-Z0-9][a-zA-Z0-9-]*$/.test(resource))
    throw configError(provider, 'configuration.resourceName is not valid')
  const base = `https://${resource}.openai.azure.com/openai`
  return { baseUrl: isDated ? base : `${base}/v1`, ...apiVersion }
}

function configError(provider: ResolvedProvider, reason: string): RunError {
  return new RunError('ai_provider_config_error', `Provider '${provider.name}': ${reason}`, {
    details: { provider: provider.name },
  })
}
