/** Converts messages to input items of the Responses protocol. */
import type OpenAI from 'openai'
import type { Message, MessagePart } from '../../../../features/templates/message.ts'
import { addressOf, dataUrl, mediaOf, resultText, unsupported } from '../../request/parts.ts'
import { filesFromUser, withoutDeveloper } from '../../request/roles.ts'
import type { OpenaiService } from '../service.ts'

type InputItem = OpenAI.Responses.ResponseInputItem
type InputPart = OpenAI.Responses.ResponseInputContent
type MediaPart = Extract<MessagePart, { type: 'image' | 'file' }>

/** @throws ProviderError `unsupported` for a part that the protocol cannot represent. */
export function inputItems(provider: OpenaiService, messages: readonly Message[]): InputItem[] {
  const shown = filesFromUser(messages)
  const known = provider.traits.takesDeveloper ? shown : withoutDeveloper(shown)
  return known.flatMap((message) => {
    if (message.role === 'assistant') return message.content.flatMap((part) => assistantItem(provider, part))
    if (message.role === 'tool') return message.content.flatMap(resultItem)
    const { role } = message
    return [{ type: 'message' as const, role, content: message.content.map((part) => inputPart(provider, role, part)) }]
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

// Only the provider can read encrypted reasoning. The visible summary alone is not a valid item.
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
