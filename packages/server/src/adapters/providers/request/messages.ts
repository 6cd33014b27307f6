/** Adapts messages to what a service accepts: roles, and media as URLs, which stet never fetches. */

import type { Message, MessagePart, Role } from '@stet/contract/vocabulary'
import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'

export type Media = { url: string; mimeType: string } | { base64: string; mimeType: string }

export type MediaPart = Extract<MessagePart, { type: 'image' | 'file' }>

const imageTypes = { '/9j/': 'image/jpeg', R0lG: 'image/gif', UklGR: 'image/webp' }

export function mediaOf(part: MediaPart): Media {
  const content = part.type === 'image' ? part.image : part.file
  const given = part.mimeType?.toLowerCase()
  if (/^https?:\/\//i.test(content)) return { url: content, mimeType: given ?? 'image/png' }
  const data = /^data:([^;,]*)(?:;[^,]*)?,/i.exec(content)
  if (!data) return { base64: content, mimeType: given ?? imageTypeOf(content) }
  const [head, type = ''] = data
  const body = content.slice(head.length)
  const base64 = /;base64,$/i.test(head) ? body : Buffer.from(decoded(body)).toString('base64')
  return { base64, mimeType: type === '' ? (given ?? 'image/png') : type.toLowerCase() }
}

export function dataUrl({ base64, mimeType }: { base64: string; mimeType: string }): string {
  return `data:${mimeType};base64,${base64}`
}

export function addressOf(media: Media): string {
  return 'url' in media ? media.url : dataUrl(media)
}

function imageTypeOf(base64: string): string {
  return Object.entries(imageTypes).find(([start]) => base64.startsWith(start))?.[1] ?? 'image/png'
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** @param where the end of the error message, for example `in system messages`. */
export function unsupported(provider: ProviderSettings, type: string, where: string): ProviderError {
  return new ProviderError('unsupported', `Provider '${provider.name}' takes no ${type} parts ${where}`)
}

export function resultText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}

export function withoutDeveloper(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => (message.role === 'developer' ? as('system', message) : message))
}

/** Keeps leading system messages. Later system messages become user messages. */
export function withLeadingSystem(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return messages.map((message, index) =>
    first >= 0 && index > first && message.role === 'system' ? as('user', message) : message,
  )
}

/** If there is no user message, the last system message becomes a user message. */
export function withUser(messages: readonly Message[]): readonly Message[] {
  if (messages.some(({ role }) => role === 'user')) return messages
  const last = messages.findLastIndex(({ role }) => role === 'system')
  return messages.map((message, index) => (index === last ? as('user', message) : message))
}

/** The last message becomes a user message if its role is one of `roles`. */
export function withUserAtEnd(messages: readonly Message[], ...roles: Role[]): readonly Message[] {
  const last = messages.at(-1)
  return last && roles.includes(last.role) ? [...messages.slice(0, -1), as('user', last)] : messages
}

/**
 * No service accepts media in assistant messages. Moves the media to a new user message after the assistant message's
 * tool results.
 */
export function filesFromUser(messages: readonly Message[]): readonly Message[] {
  const shown: Message[] = []
  let held: MessagePart[] = []
  for (const message of messages) {
    if (message.role !== 'tool' && held.length > 0) {
      shown.push({ role: 'user', content: held })
      held = []
    }
    const media = message.role === 'assistant' ? message.content.filter(isMedia) : []
    if (media.length === 0) {
      shown.push(message)
      continue
    }
    held = media
    const content = message.content.filter((part) => !isMedia(part))
    // Drops a message without text or tool calls, because services reject such messages.
    if (content.some(({ type }) => type === 'text' || type === 'tool-call')) shown.push({ ...message, content })
  }
  if (held.length > 0) shown.push({ role: 'user', content: held })
  return shown
}

function isMedia({ type }: MessagePart): boolean {
  return type === 'image' || type === 'file'
}

/** Merges consecutive messages of one role, for services that require alternation. Tool results stay separate. */
export function inTurn(messages: readonly Message[]): readonly Message[] {
  const joined: Message[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last?.role === message.role && message.role !== 'tool') {
      joined[joined.length - 1] = { ...last, content: [...last.content, ...message.content] }
    } else joined.push(message)
  }
  return joined
}

// User messages cannot have reasoning or tool calls, so these parts are dropped.
function as(role: Role, message: Message): Message {
  if (message.role !== 'assistant') return { ...message, role }
  const dropped = ['reasoning', 'redacted-reasoning', 'tool-call']
  return { ...message, role, content: message.content.filter(({ type }) => !dropped.includes(type)) }
}
