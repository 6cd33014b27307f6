/** Which roles a service accepts, and where. A role it rejects becomes the nearest accepted one. */
import type { Message, MessagePart, Role } from '../../../features/templates/message.ts'

export function withoutDeveloper(messages: readonly Message[]): Message[] {
  return messages.map((message) => (message.role === 'developer' ? as('system', message) : message))
}

/** Leading system messages stay; later ones become user messages. */
export function withLeadingSystem(messages: readonly Message[]): Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return messages.map((message, index) =>
    first >= 0 && index > first && message.role === 'system' ? as('user', message) : message,
  )
}

/** In a conversation without a user message, the last system message becomes one. */
export function withUser(messages: readonly Message[]): Message[] {
  if (messages.some(({ role }) => role === 'user')) return [...messages]
  const last = messages.map(({ role }) => role).lastIndexOf('system')
  return messages.map((message, index) => (index === last ? as('user', message) : message))
}

/** The last message is from the user or a tool. */
export function withUserAtEnd(messages: readonly Message[]): Message[] {
  const last = messages.at(-1)
  if (!last || last.role === 'user' || last.role === 'tool') return [...messages]
  return [...messages.slice(0, -1), as('user', last)]
}

/** The last message is not a system message. */
export function withoutSystemAtEnd(messages: readonly Message[]): Message[] {
  const last = messages.at(-1)
  return last?.role === 'system' ? [...messages.slice(0, -1), as('user', last)] : [...messages]
}

/**
 * No service accepts images and files in assistant messages. Media made by a model is sent in a user message, after the
 * results of the calls in the same assistant message.
 */
export function filesFromUser(messages: readonly Message[]): Message[] {
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
    // Reasoning alone is rejected, because the part it led to is missing.
    if (content.some(({ type }) => type === 'text' || type === 'tool-call')) shown.push({ ...message, content })
  }
  if (held.length > 0) shown.push({ role: 'user', content: held })
  return shown
}

function isMedia({ type }: MessagePart): boolean {
  return type === 'image' || type === 'file'
}

/**
 * Joins neighbors of one role, for services that require user and assistant to alternate. Tool results stay separate.
 */
export function inTurn(messages: readonly Message[]): Message[] {
  const joined: Message[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last?.role === message.role && message.role !== 'tool') {
      joined[joined.length - 1] = { ...last, content: [...last.content, ...message.content] }
    } else joined.push(message)
  }
  return joined
}

// User messages cannot have calls or reasoning, so only the text of an assistant message is kept.
function as(role: Role, message: Message): Message {
  const content = message.content.filter(
    (part) => !['reasoning', 'redacted-reasoning', 'tool-call'].includes(part.type),
  )
  return { ...message, role, content: message.role === 'assistant' ? content : message.content }
}
