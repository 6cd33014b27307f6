import { keys } from '../request/settings.ts'
import type { ToolIdForm } from '../request/tools.ts'

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

export function traitsOfKind(kind: string): KindTraits {
  return Object.hasOwn(traits, kind) ? (traits[kind] ?? unknown) : unknown
}
