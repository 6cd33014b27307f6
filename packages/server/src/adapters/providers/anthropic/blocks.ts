/** Converts message parts to content blocks of the Messages API. */
import type Anthropic from '@anthropic-ai/sdk'
import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import type { MessagePart } from '../../../features/templates/message.ts'
import { type Media, mediaOf, resultText, unsupported } from '../request/parts.ts'
import { toolIdIn } from '../request/tools.ts'

type PartOf<T extends MessagePart['type']> = Extract<MessagePart, { type: T }>

const toolIds = { fits: /^[a-zA-Z0-9_-]+$/, length: 24 }

/** The API rejects empty texts, so they are omitted. */
export function textBlock(part: PartOf<'text'>): Anthropic.TextBlockParam[] {
  return part.text === '' ? [] : [{ type: 'text', text: part.text, ...markOf(part) }]
}

export function userBlock(provider: ProviderSettings, part: MessagePart): Anthropic.ContentBlockParam[] {
  if (part.type === 'text') return textBlock(part)
  if (part.type === 'image') return [{ type: 'image', source: imageSource(mediaOf(part)), ...markOf(part) }]
  if (part.type === 'file') return [fileBlock(provider, part)]
  throw unsupported(provider, part.type, 'in user messages')
}

/** Thinking goes back only to the provider key that produced it, with its signature. */
export function assistantBlock(provider: ProviderSettings, part: MessagePart): Anthropic.ContentBlockParam[] {
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

export function resultBlock(part: PartOf<'tool-result'>): Anthropic.ToolResultBlockParam {
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

/** The cache mark of a part, message or configuration, under either of its names. `true` means the default mark. */
export function cacheMark(holder: Readonly<Record<string, unknown>>): Anthropic.CacheControlEphemeral | undefined {
  const mark = holder['cache_control'] ?? holder['cacheControl']
  if (mark === true || mark === 'ephemeral') return { type: 'ephemeral' }
  if (typeof mark !== 'object' || mark === null || Array.isArray(mark)) return undefined
  return { type: 'ephemeral', ...mark }
}
