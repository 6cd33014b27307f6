/** The messages of Anthropic's API. System messages become `config.system`. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { unsupported } from '../failures.ts'
import {
  type Conversation,
  type Format,
  imageOf,
  isImage,
  type Media,
  mediaOf,
  partsOf,
  textOf,
  textPart,
  toolResults,
} from './format.ts'

export const anthropic: Format = {
  write,
  read: ({ content, ...answer }) => [{ ...answer, role: 'assistant', content: partsOf(content).map(readPart) }],
}

function write(config: Record<string, unknown>, messages: readonly RenderedMessage[]): Conversation {
  const rendered = messages.filter(({ role }) => role === 'system').flatMap(({ content }) => writeParts(content))
  const system = [...configured(config['system']), ...rendered]
  return {
    config: system.length > 0 ? { ...config, system } : config,
    messages: writeTurns(messages.filter(({ role }) => role !== 'system')),
  }
}

function configured(system: unknown): unknown[] {
  if (Array.isArray(system)) return system
  return typeof system === 'string' ? [textPart(system)] : []
}

interface Turn {
  role: string
  content: unknown[]
}

/** The API expects the results of all calls of a message in the next message. */
function writeTurns(messages: readonly RenderedMessage[]): Turn[] {
  const turns: Turn[] = []
  let results: Turn | undefined
  for (const message of messages) {
    const turn = { role: message.role === 'assistant' ? 'assistant' : 'user', content: contentOf(message) }
    if (turn.content.length === 0) continue
    const isResults = message.role === 'tool'
    if (isResults && results) results.content.push(...turn.content)
    else turns.push(turn)
    results = isResults ? (results ?? turn) : undefined
  }
  return turns
}

function contentOf(message: RenderedMessage): unknown[] {
  const { role, content } = message
  switch (role) {
    case 'assistant': {
      const other = content.find(({ type }) => type === 'image' || type === 'file')
      if (other) throw unsupported('anthropic', `parts of type ${other.type} in assistant messages`)
      return writeParts(content)
    }
    case 'user':
      return writeParts(content)
    case 'tool':
      return toolResults(message).map(({ toolCallId, parts, isError }) => {
        const written = writeParts(parts)
        return {
          type: 'tool_result',
          tool_use_id: toolCallId,
          ...(written.length > 0 && { content: written }),
          ...(isError && { is_error: true }),
        }
      })
    default:
      throw unsupported('anthropic', `the role ${role}`)
  }
}

/** The API refuses empty texts. */
function writeParts(parts: readonly RenderedPart[]): unknown[] {
  return parts.map(writePart).filter(({ type, text }) => type !== 'text' || text !== '')
}

function writePart(part: RenderedPart): RenderedPart {
  const { type, image, file, mimeType, ...extra } = part
  if (isImage(part)) return { ...extra, type: 'image', source: sourceOf(imageOf(part)) }
  switch (type) {
    case 'file':
      if (mimeType !== 'application/pdf') return { ...extra, ...textPart(textOf(file)) }
      return { ...extra, type: 'document', source: sourceOf(mediaOf(file, mimeType)) }
    case 'tool-call':
      return { type: 'tool_use', id: part['toolCallId'], name: part['toolName'], input: part['args'] }
    default:
      return part
  }
}

function sourceOf(media: Media): unknown {
  if ('url' in media) return { type: 'url', url: media.url }
  const type = media.mimeType === 'image/jpg' ? 'image/jpeg' : media.mimeType
  return { type: 'base64', media_type: type, data: media.base64 }
}

function readPart(part: RenderedPart): RenderedPart {
  const { type, source: given, ...extra } = part
  const source = given as Record<string, unknown>
  switch (type) {
    case 'image':
      return { ...extra, type, image: source['data'] }
    case 'document':
      return { ...extra, type: 'file', file: source['data'], mimeType: source['media_type'] }
    case 'tool_use':
      return { type: 'tool-call', toolCallId: part['id'], toolName: part['name'], args: part['input'] }
    default:
      return part
  }
}
