/** Converts messages to OpenAI chat completions. Reasoning is omitted unless its provider requires it. */
import type OpenAI from 'openai'
import type { Message, MessagePart } from '../../../../features/templates/message.ts'
import { resultText, unsupported } from '../../request/parts.ts'
import {
  filesFromUser,
  inTurn,
  withLeadingSystem,
  withoutDeveloper,
  withoutSystemAtEnd,
  withUser,
  withUserAtEnd,
} from '../../request/roles.ts'
import { toolIdIn } from '../../request/tools.ts'
import type { OpenaiService } from '../service.ts'
import { mediaPart } from './media.ts'

type ChatMessage = OpenAI.ChatCompletionMessageParam
type TextPart = OpenAI.ChatCompletionContentPartText
type UserPart = OpenAI.ChatCompletionContentPart
type ToolCallPart = Extract<MessagePart, { type: 'tool-call' }>

/** @throws ProviderError `unsupported` for a part that the service cannot accept. */
export function chatMessages(provider: OpenaiService, messages: readonly Message[]): ChatMessage[] {
  const sent = rolesFor(provider, messages).flatMap((message) => toChat(provider, message))
  const last = sent.at(-1)
  if (provider.traits.roles !== 'prefix-at-end' || last?.role !== 'assistant') return sent
  // Mistral rejects a final assistant message unless it is marked as a prefix.
  return [...sent.slice(0, -1), { ...last, prefix: true } as ChatMessage]
}

function rolesFor(provider: OpenaiService, messages: readonly Message[]): Message[] {
  const { takesDeveloper, roles } = provider.traits
  const shown = filesFromUser(messages)
  const known = takesDeveloper ? shown : withoutDeveloper(shown)
  switch (roles) {
    case 'leading-system':
    case 'prefix-at-end':
      return withUser(withLeadingSystem(known))
    case 'user-at-end':
      return withUserAtEnd(inTurn(withLeadingSystem(known)))
    case 'no-system-at-end':
      return withoutSystemAtEnd(known)
    default:
      return known
  }
}

function toChat(provider: OpenaiService, message: Message): ChatMessage[] {
  const { role, content } = message
  if (role === 'tool') return content.flatMap((part) => toolResult(provider, part))
  if (role === 'assistant') return [assistant(provider, content)]
  if (role === 'user') {
    const parts = content.map((part) => userPart(provider, part))
    const isNamed = typeof message['name'] === 'string' && !provider.traits.refusesNames
    const spoken = provider.traits.joinsTexts === 'in-all' ? joined(parts) : plain(parts)
    return [{ role, content: spoken, ...(isNamed ? { name: String(message['name']) } : {}) }]
  }
  return [{ role, content: spokenTexts(provider, texts(provider, role, content)) }]
}

function assistant(provider: OpenaiService, content: readonly MessagePart[]): ChatMessage {
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
  const spoken = content.filter(
    (part) => part.type !== 'tool-call' && part.type !== 'reasoning' && part.type !== 'redacted-reasoning',
  )
  const parts = texts(provider, 'assistant', spoken)
  const said = spokenTexts(provider, parts)
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

/** Reasoning that a gateway sealed for the service behind it, whose tool loops fail without it. */
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
  // Gemini rejects tool calls that come back without their signatures.
  return { ...sent, extra_content: { google: { thought_signature: signature } } } as typeof sent
}

function toolResult(provider: OpenaiService, part: MessagePart): ChatMessage[] {
  if (part.type !== 'tool-result') return []
  const tool_call_id = toolIdIn(provider.traits.toolIds, part.toolCallId)
  return [{ role: 'tool', tool_call_id, content: resultText(part.result) }]
}

function texts(provider: OpenaiService, role: string, content: readonly MessagePart[]): TextPart[] {
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    throw unsupported(provider, part.type, `in ${role} messages`)
  })
}

function userPart(provider: OpenaiService, part: MessagePart): UserPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'image' || part.type === 'file') return mediaPart(provider, part)
  throw unsupported(provider, part.type, 'in user messages')
}

function spokenTexts(provider: OpenaiService, parts: TextPart[]): string | TextPart[] {
  return provider.traits.joinsTexts === undefined ? plain(parts) : joined(parts)
}

function joined<P extends UserPart>(parts: P[]): string | P[] {
  const lines = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return lines.length === parts.length ? lines.join('\n') : parts
}

/** A single text is sent as a plain string, which every service accepts; lists only where necessary. */
function plain<P extends UserPart>(parts: P[]): string | P[] {
  const [first, ...more] = parts
  if (first === undefined) return ''
  return more.length === 0 && first.type === 'text' ? first.text : parts
}
