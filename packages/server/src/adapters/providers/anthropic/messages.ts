/**
 * Converts messages to the Messages API: system text apart, user and assistant alternating, tool results as user
 * content.
 */
import type Anthropic from '@anthropic-ai/sdk'
import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import type { Message, MessagePart } from '../../../features/templates/message.ts'
import { unsupported } from '../request/parts.ts'
import { filesFromUser, withLeadingSystem, withoutDeveloper, withUser } from '../request/roles.ts'
import { assistantBlock, cacheMark, resultBlock, textBlock, userBlock } from './blocks.ts'

export interface AnthropicConversation {
  system: Anthropic.TextBlockParam[]
  messages: Anthropic.MessageParam[]
}

type Block = Anthropic.ContentBlockParam

/** @throws ProviderError `unsupported` for a part that the protocol cannot represent. */
export function anthropicMessages(provider: ProviderSettings, messages: readonly Message[]): AnthropicConversation {
  const known = withUser(withLeadingSystem(withoutDeveloper(filesFromUser(messages))))
  const system = known
    .filter(({ role }) => role === 'system')
    .flatMap((message) =>
      marked(
        message,
        message.content.flatMap((part) => systemBlock(provider, part)),
      ),
    )
  const turns: { role: 'user' | 'assistant'; content: Block[] }[] = []
  for (const message of known) {
    if (message.role === 'system') continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const blocks = marked(
      message,
      message.content.flatMap((part) => blockOf(provider, message, part)),
    )
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else if (blocks.length > 0) turns.push({ role, content: blocks })
  }
  return { system, messages: trimmedEnd(turns) }
}

function blockOf(provider: ProviderSettings, { role }: Message, part: MessagePart): Block[] {
  if (role === 'tool') return part.type === 'tool-result' ? [resultBlock(part)] : []
  return role === 'assistant' ? assistantBlock(provider, part) : userBlock(provider, part)
}

function systemBlock(provider: ProviderSettings, part: MessagePart): Anthropic.TextBlockParam[] {
  if (part.type === 'text') return textBlock(part)
  throw unsupported(provider, part.type, 'in system messages')
}

/** A cache mark on a message goes to its last block that can have one. Thinking blocks cannot. */
function marked<B extends Block>(message: Message, blocks: B[]): B[] {
  const mark = cacheMark(message)
  const last = blocks.at(-1)
  if (!mark || !last || last.type === 'thinking' || last.type === 'redacted_thinking') return blocks
  return [...blocks.slice(0, -1), { ...last, cache_control: mark }]
}

// A prefilled assistant message may not end in white space.
function trimmedEnd(turns: { role: 'user' | 'assistant'; content: Block[] }[]): Anthropic.MessageParam[] {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block?.type !== 'text') return turns
  const text = block.text.trimEnd()
  const content = [...last.content.slice(0, -1), ...(text === '' ? [] : [{ ...block, text }])]
  return content.length === 0 ? turns.slice(0, -1) : [...turns.slice(0, -1), { ...last, content }]
}
