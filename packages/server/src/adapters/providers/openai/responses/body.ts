/**
 * A model request as the body of a Responses call. The provider stores nothing: stet sends the whole conversation each
 * time.
 */
import type OpenAI from 'openai'
import type { ModelRequest, ToolDefinition } from '../../../../features/providers/model-driver.ts'
import { asObject } from '../../json.ts'
import { meetsStrict, schemaName } from '../../request/schema.ts'
import { keys, type SettingRules, settingsBody, tokenLimit } from '../../request/settings.ts'
import { toolSettings } from '../../request/tools.ts'
import type { OpenaiService } from '../service.ts'
import { inputItems } from './messages.ts'

export type ResponsesBody = OpenAI.Responses.ResponseCreateParams

const rules: SettingRules = {
  names: { topP: 'top_p' },
  dropped: keys(
    'topK top_k presencePenalty frequencyPenalty seed stop stopSequences thinking thinkingConfig safetySettings ' +
      'cacheControl cache_control reasoningEffort reasoningSummary reasoning text',
  ),
}

/** @throws ProviderError `unsupported` for a part that the protocol cannot represent. */
export function responsesBody(provider: OpenaiService, request: ModelRequest): ResponsesBody {
  const { model, tools, schema, stream, settings } = request
  const limit = tokenLimit(settings)
  const body: Record<string, unknown> = {
    store: false,
    ...settingsBody(provider, settings, rules),
    ...reasoningOf(settings),
    ...textOf(settings, schema),
    ...(limit === undefined ? {} : { max_output_tokens: limit }),
    ...(tools.length > 0 ? { tools: tools.map(functionTool), ...toolSettings(settings, namedFunction) } : {}),
    ...(stream ? { stream: true } : {}),
    model,
    input: inputItems(provider, request.messages),
  }
  // Unknown settings pass unchanged, so only the fixed keys of the body are typed.
  return body as unknown as ResponsesBody
}

// Reasoning that the provider does not store can only be sent back encrypted, and must be requested in that form.
function reasoningOf(settings: Record<string, unknown>): Record<string, unknown> {
  const { reasoningEffort: effort, reasoningSummary: summary } = settings
  const reasoning = {
    ...asObject(settings['reasoning']),
    ...(effort === undefined ? {} : { effort }),
    ...(summary === undefined ? {} : { summary }),
  }
  return Object.keys(reasoning).length > 0 ? { reasoning, include: ['reasoning.encrypted_content'] } : {}
}

function textOf(settings: Record<string, unknown>, schema: ModelRequest['schema']): Record<string, unknown> {
  const given = asObject(settings['text'])
  // Without the key, `strict` would default to true here.
  const format = schema && { type: 'json_schema', name: schemaName(schema), schema, strict: meetsStrict(schema) }
  const text = { ...given, ...(format && { format }) }
  return Object.keys(text).length > 0 ? { text } : {}
}

function functionTool({ name, description, parameters }: ToolDefinition): OpenAI.Responses.FunctionTool {
  return { type: 'function', name, parameters, strict: false, ...(description === undefined ? {} : { description }) }
}

const namedFunction = (choice: { name: string }) => ({ type: 'function', name: choice.name })
