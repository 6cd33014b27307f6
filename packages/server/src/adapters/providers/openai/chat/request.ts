import type { Message, MessagePart } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type OpenAI from 'openai'
import type { ModelRequest, ToolDefinition } from '../../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../../features/providers/provider-error.ts'
import { asList, asObject, type Json } from '../../json.ts'
import {
  meetsStrict,
  schemaInstruction,
  schemaName,
  settingsBody,
  tokenLimit,
  toolIdIn,
  toolSettings,
} from '../../request/body.ts'
import {
  filesFromUser,
  inTurn,
  resultText,
  unsupported,
  withLeadingSystem,
  withoutDeveloper,
  withUser,
  withUserAtEnd,
} from '../../request/messages.ts'
import { isNewAzure, type KindTraits, type OpenaiService } from '../kinds.ts'
import { type ChatPart, mediaPart } from './media.ts'

/** The client's types lack the keys that only other services use. */
interface ChatMessage {
  role: Message['role']
  content: string | ChatPart[] | null
  name?: string
  tool_call_id?: string
  tool_calls?: ChatToolCall[]
  reasoning_content?: string
  reasoning_details?: unknown[]
  prefix?: boolean
}

type ChatToolCall = OpenAI.ChatCompletionMessageFunctionToolCall & { extra_content?: object }

export type ChatBody = Omit<OpenAI.ChatCompletionCreateParams, 'messages'> & { messages: ChatMessage[] }

const names: Readonly<Record<string, string>> = {
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  stopSequences: 'stop',
  reasoningEffort: 'reasoning_effort',
}

const foreign = ['cacheControl', 'cache_control', 'reasoningSummary']

/** @throws ProviderError `unsupported` for parts and tools that the service cannot accept. */
export function chatBody(provider: OpenaiService, request: ModelRequest): ChatBody {
  const { model, tools, schema, stream, settings } = request
  const { traits } = provider
  if (tools.length > 0 && traits.refusesTools) {
    throw new ProviderError('unsupported', `Provider '${provider.name}' takes no tools`)
  }
  const messages = chatMessages(provider, request.messages)
  if (schema && traits.jsonModeOnly) messages.unshift({ role: 'system', content: schemaInstruction(schema) })
  const limit = tokenLimit(settings)
  const rules = { names: { ...names, ...traits.names }, dropped: new Set([...foreign, ...traits.refused]) }
  return {
    ...settingsBody(provider, settings, rules),
    ...(provider.kind.startsWith('google') ? googleOptions(settings) : {}),
    ...(limit === undefined ? {} : limitOf(provider, limit)),
    ...(schema ? { response_format: formatOf(traits, schema) } : {}),
    ...(tools.length > 0 ? { tools: tools.map(chatTool), ...toolSettings(settings, namedFunction) } : {}),
    ...(stream ? { stream: true } : {}),
    ...(stream && provider.asksForUsage ? { stream_options: { include_usage: true } } : {}),
    model,
    messages,
  }
}

/** OpenAI's newer models reject `max_tokens`. Most other services accept only `max_tokens`. */
function limitOf(provider: OpenaiService, limit: number): object {
  return provider.isOpenai || isNewAzure(provider.azure) ? { max_completion_tokens: limit } : { max_tokens: limit }
}

function formatOf(traits: KindTraits, schema: Json): OpenAI.ResponseFormatJSONSchema | OpenAI.ResponseFormatJSONObject {
  if (traits.jsonModeOnly) return { type: 'json_object' }
  const json_schema = { name: schemaName(schema), schema, ...(meetsStrict(schema) ? { strict: true } : {}) }
  return { type: 'json_schema', json_schema }
}

function chatTool({ name, description, parameters, strict }: ToolDefinition): OpenAI.ChatCompletionTool {
  // Left out unless it is true, because other services may reject the key.
  const isStrict = strict === true && meetsStrict(parameters) ? { strict } : {}
  return { type: 'function', function: { ...defined({ name, parameters, description }), ...isStrict } }
}

const namedFunction = (choice: { name: string }) => ({ type: 'function', function: choice })

function googleOptions(settings: Json): object {
  const thinking = asObject(settings['thinkingConfig'])
  const safety = asObject(settings['safetySettings'])
  const google = {
    ...(Object.keys(thinking).length > 0 ? { thinking_config: snakeKeys(thinking) } : {}),
    ...(Object.keys(safety).length > 0 ? { safety_settings: snakeKeys(safety) } : {}),
  }
  return Object.keys(google).length > 0 ? { extra_body: { google } } : {}
}

function snakeKeys(object: Json): Json {
  const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [snake(key), value]))
}

function chatMessages(provider: OpenaiService, messages: readonly Message[]): ChatMessage[] {
  const { takesDeveloper, roles } = provider.traits
  let shown = filesFromUser(messages)
  if (!takesDeveloper) shown = withoutDeveloper(shown)
  if (roles === 'leading-system' || roles === 'prefix-at-end') shown = withUser(withLeadingSystem(shown))
  if (roles === 'user-at-end') shown = withUserAtEnd(inTurn(withLeadingSystem(shown)), 'system', 'assistant')
  if (roles === 'no-system-at-end') shown = withUserAtEnd(shown, 'system')
  const sent: ChatMessage[] = []
  for (const message of shown) sent.push(...chatMessage(provider, message))
  const last = sent.at(-1)
  // Mistral rejects a final assistant message unless it is marked as a prefix.
  if (roles === 'prefix-at-end' && last?.role === 'assistant') last.prefix = true
  return sent
}

function chatMessage(provider: OpenaiService, message: Message): ChatMessage[] {
  const { role, content } = message
  const { refusesNames } = provider.traits
  if (role === 'tool') return content.flatMap((part) => toolResult(provider, part))
  if (role === 'assistant') return [assistant(provider, content)]
  const spoken = contentOf(partsOf(provider, role, content))
  const isNamed = role === 'user' && typeof message['name'] === 'string' && !refusesNames
  return [{ role, content: spoken, ...(isNamed ? { name: String(message['name']) } : {}) }]
}

function assistant(provider: OpenaiService, content: readonly MessagePart[]): ChatMessage {
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? [toolCall(provider, part)] : []))
  const unspoken = ['tool-call', 'reasoning', 'redacted-reasoning']
  const spoken = content.filter(({ type }) => !unspoken.includes(type))
  const said = contentOf(partsOf(provider, 'assistant', spoken))
  if (calls.length === 0) return { role: 'assistant', content: said }
  const own = content.filter((part) => part.type === 'reasoning').filter((part) => part['provider'] === provider.name)
  const thought = provider.traits.wantsReasoning ? own.map(({ text }) => text).join('') : ''
  const sealed = own.flatMap(({ signature }) => sealedThoughts(signature))
  return {
    role: 'assistant',
    content: spoken.length === 0 ? null : said,
    tool_calls: calls,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(sealed.length === 0 ? {} : { reasoning_details: sealed }),
  }
}

/** Returns the encrypted reasoning of a gateway's upstream service. Tool loops fail without this reasoning. */
function sealedThoughts(signature: unknown): unknown[] {
  try {
    return asList(JSON.parse(String(signature)))
  } catch {
    return []
  }
}

function toolCall(provider: OpenaiService, call: Extract<MessagePart, { type: 'tool-call' }>): ChatToolCall {
  const { toolCallId, toolName, args, signature } = call
  const isSigned = typeof signature === 'string' && call['provider'] === provider.name
  return {
    id: toolIdIn(provider.traits.toolIds, toolCallId),
    type: 'function',
    function: { name: toolName, arguments: JSON.stringify(args) },
    // Gemini rejects tool calls that are sent back without their signatures.
    ...(isSigned ? { extra_content: { google: { thought_signature: signature } } } : {}),
  }
}

function toolResult(provider: OpenaiService, part: MessagePart): ChatMessage[] {
  if (part.type !== 'tool-result') return []
  const tool_call_id = toolIdIn(provider.traits.toolIds, part.toolCallId)
  return [{ role: 'tool', tool_call_id, content: resultText(part.result) }]
}

function partsOf(provider: OpenaiService, role: string, content: readonly MessagePart[]): ChatPart[] {
  const parts: ChatPart[] = []
  for (const part of content) {
    if (part.type === 'text') parts.push({ type: 'text', text: part.text })
    else if (role === 'user' && (part.type === 'image' || part.type === 'file')) parts.push(mediaPart(provider, part))
    else throw unsupported(provider, part.type, `in ${role} messages`)
  }
  return parts
}

/** Returns texts as one string, which every service accepts. Only media need the list form. */
function contentOf(parts: ChatPart[]): string | ChatPart[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : parts
}
