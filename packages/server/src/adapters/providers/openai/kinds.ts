import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import { RunError } from '../../../shared/app-error.ts'
import { asText } from '../json.ts'
import { keys, type ToolIdForm } from '../request/body.ts'

export interface KindTraits {
  baseUrl?: string
  takesDeveloper?: boolean
  /**
   * `leading-system`: system messages come first, and at least one user message is required.
   * `prefix-at-end`: as `leading-system`, and a final assistant message is marked as a prefix.
   * `user-at-end`: system messages come first, user and assistant alternate, and the last message is from the user.
   * `no-system-at-end`: the last message is not a system message.
   */
  roles?: 'leading-system' | 'user-at-end' | 'prefix-at-end' | 'no-system-at-end'
  refusesNames?: boolean
  /** The service always sends usage and rejects `stream_options`. */
  usageUnasked?: boolean
  /** The service has no schema mode. JSON mode is used, with the schema in a system message. */
  jsonModeOnly?: boolean
  refusesImages?: boolean
  refusesTools?: boolean
  /** The format of file parts. The default is OpenAI's, which accepts no URLs. */
  files?: 'document_url' | 'file_url' | 'none'
  /** The format of audio parts. The default is OpenAI's. `text` is the base64 content or the URL. */
  sound?: 'text' | 'none'
  toolIds?: ToolIdForm
  names?: Readonly<Record<string, string>>
  refused: ReadonlySet<string>
  /** The service needs the reasoning of a tool loop in later calls. */
  wantsReasoning?: boolean
  /** Prompts name a deployment, and the response names the deployed model. */
  namesDeployments?: boolean
  /** The service reports reasoning only as the excess of the total over input plus output. */
  countsThoughtsInTotal?: boolean
}

const elsewhere = 'thinkingConfig safetySettings'
const unsampled = `${elsewhere} topK top_k thinking`

const traits: Readonly<Record<string, KindTraits>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', takesDeveloper: true, refused: keys(unsampled) },
  azure: { takesDeveloper: true, namesDeployments: true, refused: keys(unsampled) },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    refusesNames: true,
    files: 'none',
    refused: keys(`${unsampled} logit_bias logprobs top_logprobs`),
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    roles: 'prefix-at-end',
    refusesNames: true,
    usageUnasked: true,
    files: 'document_url',
    sound: 'text',
    toolIds: { fits: /^[a-zA-Z0-9]{9}$/, length: 9 },
    names: { seed: 'random_seed' },
    refused: keys(unsampled),
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com/v1',
    roles: 'no-system-at-end',
    jsonModeOnly: true,
    refusesImages: true,
    files: 'none',
    refused: keys(`${elsewhere} topK top_k`),
    wantsReasoning: true,
  },
  xai: { baseUrl: 'https://api.x.ai/v1', files: 'none', refused: keys(unsampled) },
  perplexity: {
    baseUrl: 'https://api.perplexity.ai',
    roles: 'user-at-end',
    refusesNames: true,
    usageUnasked: true,
    refusesTools: true,
    files: 'file_url',
    sound: 'none',
    refused: keys(`${elsewhere} thinking`),
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    roles: 'leading-system',
    refused: keys(`${unsampled} presencePenalty frequencyPenalty seed`),
    countsThoughtsInTotal: true,
  },
  google_vertex: { roles: 'leading-system', refused: keys(unsampled), countsThoughtsInTotal: true },
}

const unknown: KindTraits = { refused: new Set() }

function traitsOfKind(kind: string): KindTraits {
  return Object.hasOwn(traits, kind) ? (traits[kind] ?? unknown) : unknown
}

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
