/** What differs between the services that speak the OpenAI protocol, in one table. */
import type { ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { RunError } from '../../../shared/app-error.ts'
import { keys } from '../request/settings.ts'
import type { ToolIdForm } from '../request/tool-ids.ts'
import { azureAddress } from './azure.ts'

export interface KindTraits {
  baseUrl?: string
  takesDeveloper?: boolean
  /**
   * `leading-system`: later system messages become user messages, and one user there must be; `prefix-at-end`: the same,
   * and an assistant's last word is marked; `user-at-end`: user and assistant in turn; `no-system-at-end`: the last word
   * is not the system's.
   */
  roles?: 'leading-system' | 'user-at-end' | 'prefix-at-end' | 'no-system-at-end'
  refusesNames?: boolean
  /** Usage comes unasked, and the question is refused. */
  usageUnasked?: boolean
  /** No schema mode: JSON mode and the schema in a system text. */
  jsonModeOnly?: boolean
  refusesImages?: boolean
  refusesTools?: boolean
  /** Takes no lists of text parts, in these messages: their texts are sent as one. */
  joinsTexts?: 'in-all' | 'but-of-users'
  /** The form of file parts; `content` is OpenAI's own, which takes no addresses. */
  files: 'content' | 'document_url' | 'file_url' | 'none'
  /** The form of sound; `object` is OpenAI's own, `text` the bare content or address. */
  sound?: 'object' | 'text'
  toolIds?: ToolIdForm
  /** Settings under other names than OpenAI's. */
  names?: Readonly<Record<string, string>>
  /** Settings that the service answers with an error. */
  refused: ReadonlySet<string>
  /** Reasoning of a tool loop has to come back. */
  wantsReasoning?: boolean
  /** The model's name in a prompt is a deployment's; what serves it is told by the answer. */
  namesDeployments?: boolean
  /** Usage tells of thoughts only by a total that is more than input and output. */
  countsThoughtsInTotal?: boolean
}

const elsewhere = 'thinkingConfig safetySettings'
const unsampled = `${elsewhere} topK top_k thinking`

const traits: Readonly<Record<string, KindTraits>> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    takesDeveloper: true,
    files: 'content',
    sound: 'object',
    refused: keys(elsewhere),
  },
  azure: { takesDeveloper: true, namesDeployments: true, files: 'content', sound: 'object', refused: keys(unsampled) },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    refusesNames: true,
    joinsTexts: 'but-of-users',
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
    joinsTexts: 'in-all',
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
    refused: keys(`${elsewhere} thinking`),
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    roles: 'leading-system',
    files: 'content',
    sound: 'object',
    refused: keys(`${unsampled} presencePenalty frequencyPenalty seed`),
    countsThoughtsInTotal: true,
  },
  google_vertex: {
    roles: 'leading-system',
    files: 'content',
    sound: 'object',
    refused: keys(unsampled),
    countsThoughtsInTotal: true,
  },
}

/** Any other service, of which nothing is known but the protocol. */
const unknown: KindTraits = { files: 'content', sound: 'object', refused: new Set() }

/** What OpenAI's own address refuses and services that only speak like it may take. */
const refusedByOpenai = keys(unsampled)

// An entry is the same object until it changes, and a call asks for its traits in many places.
const known = new WeakMap<ResolvedProvider, KindTraits>()

export function traitsOf(provider: ResolvedProvider): KindTraits {
  const found = known.get(provider) ?? findTraits(provider)
  known.set(provider, found)
  return found
}

function findTraits(provider: ResolvedProvider): KindTraits {
  const own = Object.hasOwn(traits, provider.kind) ? (traits[provider.kind] ?? unknown) : unknown
  if (provider.kind === 'azure' && (azureAddress(provider)?.apiVersion ?? '9') < '2024-12') {
    return { ...own, takesDeveloper: false }
  }
  if (provider.kind !== 'openai') return own
  return isOpenaiItself(provider) ? { ...own, refused: refusedByOpenai } : { ...own, refused: new Set() }
}

/** @throws RunError `ai_provider_config_error` for a kind that has no address of its own and was given none. */
export function baseUrlOf(provider: ResolvedProvider): string {
  const url = provider.kind === 'azure' ? azureAddress(provider)?.baseUrl : undefined
  const address =
    url ?? provider.url ?? (Object.hasOwn(traits, provider.kind) ? traits[provider.kind]?.baseUrl : undefined)
  if (address !== undefined) return address
  const needed =
    provider.kind === 'azure' ? 'resourceName or baseUrl in its configuration, or a url' : 'an OpenAI-compatible url'
  throw new RunError('ai_provider_config_error', `Provider kind '${provider.kind}' needs ${needed}`, {
    details: { provider: provider.name },
  })
}

/** OpenAI itself, where newer roles and parameter names are known for sure. */
export function isOpenaiItself(provider: ResolvedProvider): boolean {
  return provider.kind === 'openai' && new URL(baseUrlOf(provider)).hostname === 'api.openai.com'
}

/**
 * The entry wants the Responses protocol.
 * @throws RunError `ai_provider_config_error` for a kind whose service has chat completions only.
 */
export function servesResponses({ name, kind, configuration }: ResolvedProvider): boolean {
  if (configuration['endpoint'] !== 'responses') return false
  if (kind === 'openai' || kind === 'custom' || kind === 'azure') return true
  throw new RunError('ai_provider_config_error', `Provider '${name}': kind '${kind}' has no endpoint 'responses'`, {
    details: { provider: name },
  })
}
