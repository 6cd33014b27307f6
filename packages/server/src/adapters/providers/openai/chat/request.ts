import type OpenAI from 'openai'
import type { ModelRequest, ToolDefinition } from '../../../../features/providers/model-driver.ts'
import type { Message, MessagePart } from '../../../../features/templates/message.ts'
import { asObject } from '../../json.ts'
import { resultText, toolsRefused, unsupported } from '../../request/parts.ts'
import {
  filesFromUser,
  inTurn,
  withLeadingSystem,
  withoutDeveloper,
  withoutSystemAtEnd,
  withUser,
  withUserAtEnd,
} from '../../request/roles.ts'
import { meetsStrict, schemaInstruction, schemaName } from '../../request/schema.ts'
import { settingsBody, tokenLimit } from '../../request/settings.ts'
import { toolIdIn, toolSettings } from '../../request/tools.ts'
import type { KindTraits } from '../kinds.ts'
import type { OpenaiService } from '../service.ts'
import { mediaPart } from './media.ts'

export type ChatBody = OpenAI.ChatCompletionCreateParams
type ChatMessage = OpenAI.ChatCompletionMessageParam
type TextPart = OpenAI.ChatCompletionContentPartText
type UserPart = OpenAI.ChatCompletionContentPart
type ToolCallPart = Extract<MessagePart, { type: 'tool-call' }>

const names: Readonly<Record<string, string>> = {
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  stopSequences: 'stop',
  reasoningEffort: 'reasoning_effort',
}

const foreign = 'cacheControl cache_control reasoningSummary'.split(' ')

/** @throws ProviderError `unsupported` for parts and tools that the service cannot accept. */
export function chatBody(provider: OpenaiService, request: ModelRequest): ChatBody {
  const { model, tools, schema, stream, settings } = request
  const { traits } = provider
  if (tools.length > 0 && traits.refusesTools) throw toolsRefused(provider)
  const preamble: ChatMessage[] =
    schema && traits.jsonModeOnly ? [{ role: 'system', content: schemaInstruction(schema) }] : []
  const limit = tokenLimit(settings)
  const body: Record<string, unknown> = {
    ...settingsBody(provider, settings, {
      names: { ...names, ...traits.names },
      dropped: new Set([...foreign, ...traits.refused]),
    }),
    ...(provider.kind.startsWith('google') ? googleOptions(settings) : {}),
    ...(limit === undefined ? {} : { [limitName(provider)]: limit }),
    ...(schema ? { response_format: formatOf(traits, schema) } : {}),
    ...(tools.length > 0 ? { tools: tools.map(chatTool), ...toolSettings(settings, namedFunction) } : {}),
    ...(stream ? { stream: true } : {}),
    ...(stream && isAskedForUsage(provider) ? { stream_options: { include_usage: true } } : {}),
    model,
    messages: [...preamble, ...chatMessages(provider, request.messages)],
  }
  // Unknown settings pass through, so only the body's fixed keys are typed.
  return body as unknown as ChatBody
}

/** OpenAI's newer models reject `max_tokens`. Most other services accept only `max_tokens`. */
function limitName(provider: OpenaiService): string {
  return provider.isOpenai || isNewAzure(provider) ? 'max_completion_tokens' : 'max_tokens'
}

/** Mistral always sends usage and rejects unknown keys. Azure's older API versions do the same. */
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
  const entries = Object.entries(object)
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )
}

function chatMessages(provider: OpenaiService, messages: readonly Message[]): ChatMessage[] {
  const { takesDeveloper, roles } = provider.traits
  let shown = filesFromUser(messages)
  if (!takesDeveloper) shown = withoutDeveloper(shown)
  if (roles === 'leading-system' || roles === 'prefix-at-end') shown = withUser(withLeadingSystem(shown))
  if (roles === 'user-at-end') shown = withUserAtEnd(inTurn(withLeadingSystem(shown)))
  if (roles === 'no-system-at-end') shown = withoutSystemAtEnd(shown)
  const sent: ChatMessage[] = []
  for (const message of shown) addMessage(provider, message, sent)
  const last = sent.at(-1)
  if (roles !== 'prefix-at-end' || last?.role !== 'assistant') return sent
  // Mistral rejects a final assistant message unless it is marked as a prefix.
  return [...sent.slice(0, -1), { ...last, prefix: true } as ChatMessage]
}

function addMessage(provider: OpenaiService, message: Message, sent: ChatMessage[]): void {
  const { role, content } = message
  const { joinsTexts, refusesNames } = provider.traits
  if (role === 'tool') sent.push(...content.flatMap((part) => toolResult(provider, part)))
  else if (role === 'assistant') sent.push(assistant(provider, content))
  else if (role === 'user') {
    const isNamed = typeof message['name'] === 'string' && !refusesNames
    const spoken = contentOf(userParts(provider, content), joinsTexts === 'in-all')
    sent.push({ role, content: spoken, ...(isNamed ? { name: String(message['name']) } : {}) })
  } else sent.push({ role, content: contentOf(textParts(provider, role, content), joinsTexts !== undefined) })
}

function assistant(provider: OpenaiService, content: readonly MessagePart[]): ChatMessage {
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
  const spoken = content.filter(
    (part) => part.type !== 'tool-call' && part.type !== 'reasoning' && part.type !== 'redacted-reasoning',
  )
  const parts = textParts(provider, 'assistant', spoken)
  const said = contentOf(parts, provider.traits.joinsTexts !== undefined)
  if (calls.length === 0) return { role: 'assistant', content: said }
  const message: ChatMessage = {
    role: 'assistant',
    content: parts.length === 0 ? null : said,
    tool_calls: calls.map((call) => toolCall(provider, call)),
  }
  const thought = provider.traits.wantsReasoning ? ownReasoning(provider, content) : ''
  const sealed = content.flatMap((part) => sealedThoughts(provider, part))
  const kept = {
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(sealed.length === 0 ? {} : { reasoning_details: sealed }),
  }
  return { ...message, ...kept } as ChatMessage
}

/** Reasoning encrypted by a gateway's upstream service, whose tool loops fail without it. */
function sealedThoughts(provider: OpenaiService, part: MessagePart): unknown[] {
  if (part.type !== 'reasoning' || part['provider'] !== provider.name || typeof part.signature !== 'string') return []
  try {
    const details: unknown = JSON.parse(part.signature)
    return Array.isArray(details) ? details : []
  } catch {
    return []
  }
}

function ownReasoning(provider: OpenaiService, content: readonly MessagePart[]): string {
  return content
    .map((part) => (part.type === 'reasoning' && part['provider'] === provider.name ? part.text : ''))
    .join('')
}

function toolCall(provider: OpenaiService, call: ToolCallPart): OpenAI.ChatCompletionMessageFunctionToolCall {
  const { toolCallId, toolName, args, signature } = call
  const sent: OpenAI.ChatCompletionMessageFunctionToolCall = {
    id: toolIdIn(provider.traits.toolIds, toolCallId),
    type: 'function',
    function: { name: toolName, arguments: JSON.stringify(args) },
  }
  if (typeof signature !== 'string' || call['provider'] !== provider.name) return sent
  // Gemini rejects tool calls that are sent back without their signatures.
  return { ...sent, extra_content: { google: { thought_signature: signature } } } as typeof sent
}

function toolResult(provider: OpenaiService, part: MessagePart): ChatMessage[] {
  if (part.type !== 'tool-result') return []
  const tool_call_id = toolIdIn(provider.traits.toolIds, part.toolCallId)
  return [{ role: 'tool', tool_call_id, content: resultText(part.result) }]
}

function textParts(provider: OpenaiService, role: string, content: readonly MessagePart[]): TextPart[] {
  const parts: TextPart[] = []
  for (const part of content) {
    if (part.type !== 'text') throw unsupported(provider, part.type, `in ${role} messages`)
    parts.push({ type: 'text', text: part.text })
  }
  return parts
}

function userParts(provider: OpenaiService, content: readonly MessagePart[]): UserPart[] {
  const parts: UserPart[] = []
  for (const part of content) {
    if (part.type === 'text') parts.push({ type: 'text', text: part.text })
    else if (part.type === 'image' || part.type === 'file') parts.push(mediaPart(provider, part))
    else throw unsupported(provider, part.type, 'in user messages')
  }
  return parts
}

/** Sends a single text as a plain string, which every service accepts. */
function contentOf<P extends UserPart>(parts: P[], isJoined: boolean): string | P[] {
  const [first] = parts
  if (first === undefined) return ''
  if (parts.length === 1 && first.type === 'text') return first.text
  if (!isJoined) return parts
  const lines = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return lines.length === parts.length ? lines.join('\n') : parts
}
