/** Converts messages: system text is separate, user and assistant alternate, and tool results are user content. */
import type Anthropic from '@anthropic-ai/sdk'
import type { Message, MessagePart } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import { asObject, isObject, type Json } from '../json.ts'
import { toolIdIn } from '../request/body.ts'
import {
  filesFromUser,
  type Media,
  mediaOf,
  resultText,
  unsupported,
  withLeadingSystem,
  withoutDeveloper,
  withUser,
} from '../request/messages.ts'

type Block = Anthropic.ContentBlockParam
type PartOf<T extends MessagePart['type']> = Extract<MessagePart, { type: T }>

interface Turn {
  role: 'user' | 'assistant'
  content: Block[]
}

export function anthropicMessages(provider: ProviderSettings, messages: readonly Message[]) {
  const system: Anthropic.TextBlockParam[] = []
  const turns: Turn[] = []
  for (const message of withUser(withLeadingSystem(withoutDeveloper(filesFromUser(messages))))) {
    const { role: given, content } = message
    if (given === 'system') {
      const blocks = content.flatMap((part) => systemBlock(provider, part))
      system.push(...marked(message, blocks))
      continue
    }
    const role = given === 'assistant' ? given : 'user'
    const blocks = content.flatMap((part) => blockOf(provider, message, part))
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...marked(message, blocks))
    else if (blocks.length > 0) turns.push({ role, content: marked(message, blocks) })
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

/** Adds a message's cache mark to its last block. Thinking blocks cannot have a cache mark. */
function marked<B extends Block>(message: Message, blocks: B[]): B[] {
  const last = blocks.at(-1)
  if (!last || last.type === 'thinking' || last.type === 'redacted_thinking') return blocks
  return [...blocks.slice(0, -1), { ...last, ...markOf(message) }]
}

// The API rejects a prefilled assistant message that ends in white space.
function trimmedEnd(turns: Turn[]): Turn[] {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block?.type !== 'text') return turns
  block.text = block.text.trimEnd()
  if (block.text === '') last.content.pop()
  return last.content.length === 0 ? turns.slice(0, -1) : turns
}

const toolIds = { fits: /^[a-zA-Z0-9_-]+$/, length: 24 }

/** Omits empty texts, because the API rejects them. */
function textBlock(part: PartOf<'text'>): Anthropic.TextBlockParam[] {
  return part.text === '' ? [] : [{ type: 'text', text: part.text, ...markOf(part) }]
}

function userBlock(provider: ProviderSettings, part: MessagePart): Anthropic.ContentBlockParam[] {
  if (part.type === 'text') return textBlock(part)
  if (part.type === 'image') return [{ type: 'image', source: imageSource(mediaOf(part)), ...markOf(part) }]
  if (part.type === 'file') return [fileBlock(provider, part)]
  throw unsupported(provider, part.type, 'in user messages')
}

/** Sends thinking back only to the provider key that produced it. */
function assistantBlock(provider: ProviderSettings, part: MessagePart): Anthropic.ContentBlockParam[] {
  switch (part.type) {
    case 'text':
      return textBlock(part)
    case 'tool-call': {
      const id = toolIdIn(toolIds, part.toolCallId)
      return [{ type: 'tool_use', id, name: part.toolName, input: part.args, ...markOf(part) }]
    }
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
  return { type: 'document', source: documentSource(provider, media), ...title, ...markOf(part) }
}

function documentSource(provider: ProviderSettings, media: Media): Anthropic.DocumentBlockParam['source'] {
  const { mimeType } = media
  const isPdf = mimeType === 'application/pdf'
  if ('url' in media) {
    if (isPdf) return { type: 'url', url: media.url }
    throw unsupported(provider, 'file', `of type ${mimeType} by URL`)
  }
  if (isPdf) return { type: 'base64', media_type: mimeType, data: media.base64 }
  if (!mimeType.startsWith('text/')) throw unsupported(provider, 'file', `of type ${mimeType}`)
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(media.base64, 'base64').toString('utf8') }
}

function imageSource(media: Media): Anthropic.ImageBlockParam['source'] {
  if ('url' in media) return { type: 'url', url: media.url }
  const type = media.mimeType === 'image/jpg' ? 'image/jpeg' : media.mimeType
  return { type: 'base64', media_type: type as Anthropic.Base64ImageSource['media_type'], data: media.base64 }
}

/** Accepts `cache_control` and `cacheControl`. `true` and `ephemeral` select the default cache mark. */
export function markOf(holder: Json): { cache_control?: Anthropic.CacheControlEphemeral } {
  const mark = holder['cache_control'] ?? holder['cacheControl']
  if (mark === true || mark === 'ephemeral') return { cache_control: { type: 'ephemeral' } }
  return isObject(mark) ? { cache_control: { type: 'ephemeral', ...mark } } : {}
}

/** A structured answer is requested through a hidden tool, because every model supports tools. */
export const answerToolName = 'structured_answer'

/** Sent with thinking, because the API then allows no forced tool call. */
export const answerInstruction: Anthropic.TextBlockParam = {
  type: 'text',
  text: `Give your final answer only by calling the tool ${answerToolName}.`,
}

export function answerTool(schema: Json): Anthropic.Tool {
  const input = isWrapped(schema) ? wrapped(schema) : schema
  return { name: answerToolName, description: 'Takes the final answer.', input_schema: { ...input, type: 'object' } }
}

/** Tool input must be an object, so any other answer is wrapped in an object with one key. */
export function isWrapped(schema: Json): boolean {
  return schema['type'] !== 'object'
}

export function unwrapped(rawInput: string): string {
  try {
    return JSON.stringify(asObject(JSON.parse(rawInput))['answer']) ?? rawInput
  } catch {
    return rawInput
  }
}

// References start at the schema's root, so definitions must stay there.
function wrapped({ $defs, definitions, ...answer }: Json): Json {
  return defined({ properties: { answer }, required: ['answer'], $defs, definitions })
}
