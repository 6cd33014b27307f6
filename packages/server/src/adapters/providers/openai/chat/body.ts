/** A model request as the body of a chat-completions call. */
import type OpenAI from 'openai'
import type { ModelRequest, ToolDefinition } from '../../../../features/providers/model-driver.ts'
import { asObject } from '../../json.ts'
import { toolsRefused } from '../../request/parts.ts'
import { meetsStrict, schemaInstruction, schemaName } from '../../request/schema.ts'
import { settingsBody, tokenLimit } from '../../request/settings.ts'
import { toolSettings } from '../../request/tools.ts'
import type { KindTraits } from '../kinds.ts'
import type { OpenaiService } from '../service.ts'
import { chatMessages } from './messages.ts'

export type ChatBody = OpenAI.ChatCompletionCreateParams

const names: Readonly<Record<string, string>> = {
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  stopSequences: 'stop',
  reasoningEffort: 'reasoning_effort',
}

/** Settings that chat completions do not have. */
const foreign = 'cacheControl cache_control reasoningSummary'.split(' ')

/** @throws ProviderError `unsupported` for parts and tools that the service cannot accept. */
export function chatBody(provider: OpenaiService, request: ModelRequest): ChatBody {
  const { model, tools, schema, stream, settings } = request
  const { traits } = provider
  if (tools.length > 0 && traits.refusesTools) throw toolsRefused(provider)
  const preamble: OpenAI.ChatCompletionMessageParam[] =
    schema && traits.jsonModeOnly ? [{ role: 'system', content: schemaInstruction(schema) }] : []
  const body: Record<string, unknown> = {
    ...settingsBody(provider, settings, {
      names: { ...names, ...traits.names },
      dropped: new Set([...foreign, ...traits.refused]),
    }),
    ...(provider.kind.startsWith('google') ? googleOptions(settings) : {}),
    ...limitOf(provider, settings),
    ...(schema ? { response_format: formatOf(traits, schema) } : {}),
    ...(tools.length > 0 ? { tools: tools.map(chatTool), ...toolSettings(settings, namedFunction) } : {}),
    ...(stream ? { stream: true } : {}),
    ...(stream && isAskedForUsage(provider) ? { stream_options: { include_usage: true } } : {}),
    model,
    messages: [...preamble, ...chatMessages(provider, request.messages)],
  }
  // Unknown settings pass unchanged, so only the fixed keys of the body are typed.
  return body as unknown as ChatBody
}

/** OpenAI's newer models reject `max_tokens`; most other services accept nothing else. */
function limitOf(provider: OpenaiService, settings: Record<string, unknown>): Record<string, unknown> {
  const limit = tokenLimit(settings)
  if (limit === undefined) return {}
  const isNew = provider.isOpenai || isNewAzure(provider)
  return { [isNew ? 'max_completion_tokens' : 'max_tokens']: limit }
}

/** Mistral always sends usage and rejects unknown keys. So do Azure's older API versions. */
function isAskedForUsage(provider: OpenaiService): boolean {
  if (provider.traits.usageUnasked) return false
  return provider.azure === undefined || isNewAzure(provider)
}

function isNewAzure({ azure }: OpenaiService): boolean {
  return azure !== undefined && (azure.apiVersion ?? '9') >= '2024-09'
}

function formatOf(traits: KindTraits, schema: Record<string, unknown>): Record<string, unknown> {
  if (traits.jsonModeOnly) return { type: 'json_object' }
  const json_schema = { name: schemaName(schema), schema, ...(meetsStrict(schema) ? { strict: true } : {}) }
  return { type: 'json_schema', json_schema }
}

function chatTool({ name, description, parameters }: ToolDefinition): OpenAI.ChatCompletionTool {
  return { type: 'function', function: { name, parameters, ...(description === undefined ? {} : { description }) } }
}

const namedFunction = (choice: { name: string }) => ({ type: 'function', function: choice })

function googleOptions(settings: Record<string, unknown>): Record<string, unknown> {
  const thinking = asObject(settings['thinkingConfig'])
  const safety = asObject(settings['safetySettings'])
  const google = {
    ...(Object.keys(thinking).length > 0 ? { thinking_config: snakeKeys(thinking) } : {}),
    ...(Object.keys(safety).length > 0 ? { safety_settings: snakeKeys(safety) } : {}),
  }
  return Object.keys(google).length > 0 ? { extra_body: { google } } : {}
}

function snakeKeys(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
}
