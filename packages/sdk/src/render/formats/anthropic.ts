/** The messages of Anthropic's API. System messages become `config.system`. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { unsupported } from '../failures.ts'
import { base64Of, type Conversation, type Format, partsOf, textOf, textPart, toolResults } from './format.ts'

export const anthropic: Format = {
  write,
  read: ({ content, ...answer }) => [{ ...answer, role: 'assistant', content: partsOf(content).map(readPart) }],
}

function write(config: Record<string, unknown>, messages: readonly RenderedMessage[]): Conversation {
  const rendered = messages.filter(({ role }) => role === 'system').flatMap(({ content }) => content.map(writePart))
  const system = [...configured(config['system']), ...rendered]
  return {
    config: system.length > 0 ? { ...config, system } : config,
    messages: messages.filter(({ role }) => role !== 'system').flatMap(writeMessage),
  }
}

function configured(system: unknown): unknown[] {
  if (Array.isArray(system)) return system
  return typeof system === 'string' ? [textPart(system)] : []
}

function writeMessage(message: RenderedMessage): unknown[] {
  const { role, content, ...extra } = message
  switch (role) {
    case 'user':
    case 'assistant':
      return [{ ...extra, role, content: content.map(writePart) }]
    case 'tool':
      return toolResults(message).map(({ toolCallId, toolName, parts }) => {
        const result = { type: 'tool_result', tool_use_id: toolCallId }
        const written = parts.length > 0 ? { ...result, content: parts.map(writePart) } : result
        return { ...extra, toolName, role: 'user', content: [written] }
      })
    default:
      throw unsupported('anthropic', `the role ${role}`)
  }
}

function writePart(part: RenderedPart): RenderedPart {
  const { type, image, file, mimeType, ...extra } = part
  switch (type) {
    case 'image':
      return { ...extra, type, source: { type: 'base64', media_type: 'image/png', data: base64Of(image) } }
    case 'file':
      if (mimeType !== 'application/pdf') return { ...extra, ...textPart(textOf(file)) }
      return { ...extra, type: 'document', source: { type: 'base64', media_type: mimeType, data: base64Of(file) } }
    case 'tool-call':
      return { type: 'tool_use', id: part['toolCallId'], name: part['toolName'], input: part['args'] }
    default:
      return part
  }
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
