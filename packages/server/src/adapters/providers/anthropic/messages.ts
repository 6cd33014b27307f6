/** Converts messages: system text is separate, user and assistant alternate, and tool results are user content. */
import type Anthropic from '@anthropic-ai/sdk'
import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import type { Message, MessagePart } from '../../../features/templates/message.ts'
import { type Media, mediaOf, resultText, unsupported } from '../request/parts.ts'
import { filesFromUser, withLeadingSystem, withoutDeveloper, withUser } from '../request/roles.ts'
import { toolIdIn } from '../request/tools.ts'

export interface AnthropicConversation {
  system: Anthropic.TextBlockParam[]
  messages: Anthropic.MessageParam[]
}

type Block = Anthropic.ContentBlockParam
type PartOf<T extends MessagePart['type']> = Extract<MessagePart, { type: T }>

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

/** A message's cache mark applies to its last block. Thinking blocks cannot have one. */
function marked<B extends Block>(message: Message, blocks: B[]): B[] {
  const mark = cacheMark(message)
  const last = blocks.at(-1)
  if (!mark || !last || last.type === 'thinking' || last.type === 'redacted_thinking') return blocks
  return [...blocks.slice(0, -1), { ...last, cache_control: mark }]
}

// The API rejects a prefilled assistant message that ends in white space.
function trimmedEnd(turns: { role: 'user' | 'assistant'; content: Block[] }[]): Anthropic.MessageParam[] {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block?.type !== 'text') return turns
  const text = block.text.trimEnd()
  const content = [...last.content.slice(0, -1), ...(text === '' ? [] : [{ ...block, text }])]
  return content.length === 0 ? turns.slice(0, -1) : [...turns.slice(0, -1), { ...last, content }]
}

const toolIds = { fits: /^[a-zA-Z0-9_-]+$/, length: 24 }

/** The API rejects empty texts, so they are omitted. */
function textBlock(part: PartOf<'text'>): Anthropic.TextBlockParam[] {
  return part.text === '' ? [] : [{ type: 'text', text: part.text, ...markOf(part) }]
}

function userBlock(provider: ProviderSettings, part: MessagePart): Anthropic.ContentBlockParam[] {
  if (part.type === 'text') return textBlock(part)
  if (part.type === 'image') return [{ type: 'image', source: imageSource(mediaOf(part)), ...markOf(part) }]
  if (part.type === 'file') return [fileBlock(provider, part)]
  throw unsupported(provider, part.type, 'in user messages')
}

/** Signed thinking is valid only for the provider key that produced it. */
function assistantBlock(provider: ProviderSettings, part: MessagePart): Anthropic.ContentBlockParam[] {
  switch (part.type) {
    case 'text':
      return textBlock(part)
    case 'tool-call':
      return [
        {
          type: 'tool_use',
          id: toolIdIn(toolIds, part.toolCallId),
          name: part.toolName,
          input: part.args,
          ...markOf(part),
        },
      ]
    case 'reasoning': {
      const { signature } = part
      const isOwn = part['provider'] === provider.name && typeof signature === 'string'
      return isOwn ? [{ type: 'thinking', thinking: part.text, signature }] : []
    }
    case 'redacted-reasoning':
      return part['provider'] === provider.name ? [{ type: 'redacted_thinking', data: part.data }] : []
    default:
      throw unsupported(provider, part.type, 'in assistant messages')
  }
}

function resultBlock(part: PartOf<'tool-result'>): Anthropic.ToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: toolIdIn(toolIds, part.toolCallId),
    content: resultText(part.result),
    ...(part.isError === true ? { is_error: true } : {}),
    ...markOf(part),
  }
}

function fileBlock(provider: ProviderSettings, part: PartOf<'file'>): Anthropic.ContentBlockParam {
  const media = mediaOf(part)
  const { mimeType } = media
  if (mimeType.startsWith('image/')) return { type: 'image', source: imageSource(media), ...markOf(part) }
  const title = typeof part['name'] === 'string' ? { title: part['name'] } : {}
  if (mimeType === 'application/pdf') {
    const source: Anthropic.DocumentBlockParam['source'] =
      'url' in media
        ? { type: 'url', url: media.url }
        : { type: 'base64', media_type: 'application/pdf', data: media.base64 }
    return { type: 'document', source, ...title, ...markOf(part) }
  }
  if (mimeType.startsWith('text/') && 'base64' in media) {
    const data = Buffer.from(media.base64, 'base64').toString('utf8')
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title, ...markOf(part) }
  }
  throw unsupported(provider, 'file', 'url' in media ? `of type ${mimeType} by URL` : `of type ${mimeType}`)
}

function imageSource(media: Media): Anthropic.ImageBlockParam['source'] {
  if ('url' in media) return { type: 'url', url: media.url }
  const media_type = (
    media.mimeType === 'image/jpg' ? 'image/jpeg' : media.mimeType
  ) as Anthropic.Base64ImageSource['media_type']
  return { type: 'base64', media_type, data: media.base64 }
}

function markOf(part: MessagePart): { cache_control?: Anthropic.CacheControlEphemeral } {
  const mark = cacheMark(part)
  return mark ? { cache_control: mark } : {}
}

/** Accepts either name of the cache mark. `true` selects the default mark. */
export function cacheMark(holder: Readonly<Record<string, unknown>>): Anthropic.CacheControlEphemeral | undefined {
  const mark = holder['cache_control'] ?? holder['cacheControl']
  if (mark === true || mark === 'ephemeral') return { type: 'ephemeral' }
  if (typeof mark !== 'object' || mark === null || Array.isArray(mark)) return undefined
  return { type: 'ephemeral', ...mark }
}
