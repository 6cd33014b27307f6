/** Adapts messages to the roles that a service accepts. */
import type { Message, MessagePart, Role } from '@stet/contract/vocabulary'

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
