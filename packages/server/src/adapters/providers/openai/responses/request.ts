/** Builds a call to the Responses API. `store` is false by default, so each call has the complete conversation. */

import type { Message, MessagePart } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type OpenAI from 'openai'
import type { ModelRequest, ToolDefinition } from '../../../../features/providers/model-driver.ts'
import { asObject, type Json } from '../../json.ts'
import {
  keys,
  meetsStrict,
  type SettingRules,
  schemaName,
  settingsBody,
  tokenLimit,
  toolSettings,
} from '../../request/body.ts'
import {
  addressOf,
  dataUrl,
  filesFromUser,
  type MediaPart,
  mediaOf,
  resultText,
  unsupported,
  withoutDeveloper,
} from '../../request/messages.ts'
import type { OpenaiService } from '../kinds.ts'

export type ResponsesBody = OpenAI.Responses.ResponseCreateParams
type InputItem = OpenAI.Responses.ResponseInputItem
type InputPart = OpenAI.Responses.ResponseInputContent

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
  return {
    store: false,
    ...settingsBody(provider, settings, rules),
    ...reasoningOf(settings),
    ...textOf(settings, schema),
    ...defined({ max_output_tokens: tokenLimit(settings) }),
    ...(tools.length > 0 ? { tools: tools.map(functionTool), ...toolSettings(settings, namedFunction) } : {}),
    ...(stream ? { stream: true } : {}),
    model,
    input: inputItems(provider, request.messages),
  }
}

// Without storage at the provider, stet can send reasoning back only in encrypted form. `include` asks for this form.
function reasoningOf(settings: Json): object {
  const { reasoningEffort: effort, reasoningSummary: summary } = settings
  const reasoning = { ...asObject(settings['reasoning']), ...defined({ effort, summary }) }
  return Object.keys(reasoning).length > 0 ? { reasoning, include: ['reasoning.encrypted_content'] } : {}
}

function textOf(settings: Json, schema: ModelRequest['schema']): object {
  // Always sends `strict`, so that the API's default does not apply.
  const format = schema && { type: 'json_schema', name: schemaName(schema), schema, strict: meetsStrict(schema) }
  const text = { ...asObject(settings['text']), ...defined({ format }) }
  return Object.keys(text).length > 0 ? { text } : {}
}

function functionTool({ name, description, parameters, strict }: ToolDefinition): OpenAI.Responses.FunctionTool {
  const isStrict = strict === true && meetsStrict(parameters)
  return defined({ type: 'function' as const, name, parameters, strict: isStrict, description })
}

const namedFunction = (choice: { name: string }) => ({ type: 'function', name: choice.name })

function inputItems(provider: OpenaiService, messages: readonly Message[]): InputItem[] {
  const shown = filesFromUser(messages)
  const known = provider.traits.takesDeveloper ? shown : withoutDeveloper(shown)
  return known.flatMap((message) => {
    if (message.role === 'assistant') return message.content.flatMap((part) => assistantItem(provider, part))
    if (message.role === 'tool') return message.content.flatMap(resultItem)
    return [{ type: 'message' as const, role: message.role, content: inputContent(provider, message) }]
  })
}

function assistantItem(provider: OpenaiService, part: MessagePart): InputItem[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'message', role: 'assistant', content: part.text }]
    case 'tool-call': {
      const { toolCallId, toolName, args } = part
      return [{ type: 'function_call', call_id: toolCallId, name: toolName, arguments: JSON.stringify(args) }]
    }
    case 'reasoning':
      return reasoningItem(provider, part)
    case 'redacted-reasoning':
      return []
    default:
      throw unsupported(provider, part.type, 'in assistant messages')
  }
}

// Only the same provider key can use encrypted reasoning. A visible summary alone is not a valid item.
function reasoningItem(
  provider: OpenaiService,
  { id, text, signature, provider: maker }: Extract<MessagePart, { type: 'reasoning' }>,
): InputItem[] {
  if (maker !== provider.name || typeof signature !== 'string' || id === undefined) return []
  const summary = text === '' ? [] : [{ type: 'summary_text' as const, text }]
  return [{ type: 'reasoning', id, summary, encrypted_content: signature }]
}

function resultItem(part: MessagePart): InputItem[] {
  if (part.type !== 'tool-result') return []
  return [{ type: 'function_call_output', call_id: part.toolCallId, output: resultText(part.result) }]
}

/** Returns texts as one string, which every service accepts. Only media need the list form. */
function inputContent(provider: OpenaiService, { role, content }: Message): string | InputPart[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (texts.length === content.length) return texts.join('\n')
  return content.map((part) => inputPart(provider, role, part))
}

function inputPart(provider: OpenaiService, role: string, part: MessagePart): InputPart {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  if (role === 'user' && (part.type === 'image' || part.type === 'file')) return mediaInput(provider, part)
  throw unsupported(provider, part.type, `in ${role} messages`)
}

function mediaInput(provider: OpenaiService, part: MediaPart): InputPart {
  const media = mediaOf(part)
  if (part.type === 'image' || media.mimeType.startsWith('image/')) {
    const { detail } = part
    const isWish = detail === 'low' || detail === 'high'
    return { type: 'input_image', image_url: addressOf(media), detail: isWish ? detail : 'auto' }
  }
  if (media.mimeType.startsWith('audio/')) throw unsupported(provider, 'audio file', 'in Responses calls')
  if ('url' in media) return { type: 'input_file', file_url: media.url }
  const filename = typeof part['name'] === 'string' ? part['name'] : 'file'
  return { type: 'input_file', file_data: dataUrl(media), filename }
}
