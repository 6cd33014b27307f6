/** Which roles a service takes, and where: what it refuses becomes the nearest one that it takes. */
import type { Message, MessagePart, Role } from '../../../features/templates/message.ts'

export function withoutDeveloper(messages: readonly Message[]): Message[] {
  return messages.map((message) => (message.role === 'developer' ? as('system', message) : message))
}

/** System messages lead; later ones are the user's. */
export function withLeadingSystem(messages: readonly Message[]): Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return messages.map((message, index) =>
    first >= 0 && index > first && message.role === 'system' ? as('user', message) : message,
  )
}

/** A conversation without a user has its last system message from the user. */
export function withUser(messages: readonly Message[]): Message[] {
  if (messages.some(({ role }) => role === 'user')) return [...messages]
  const last = messages.map(({ role }) => role).lastIndexOf('system')
  return messages.map((message, index) => (index === last ? as('user', message) : message))
}

/** The last word is the user's or a tool's. */
export function withUserAtEnd(messages: readonly Message[]): Message[] {
  const last = messages.at(-1)
  if (!last || last.role === 'user' || last.role === 'tool') return [...messages]
  return [...messages.slice(0, -1), as('user', last)]
}

/** The last word is not the system's. */
export function withoutSystemAtEnd(messages: readonly Message[]): Message[] {
  const last = messages.at(-1)
  return last?.role === 'system' ? [...messages.slice(0, -1), as('user', last)] : [...messages]
}

/**
 * No service takes images and files from its own side: those that a model made are shown to the next one by the user,
 * after the results of the calls that the same message made.
 */
export function filesFromUser(messages: readonly Message[]): Message[] {
  if (!messages.some(({ role, content }) => role === 'assistant' && content.some(isMedia))) return [...messages]
  const shown: Message[] = []
  let held: MessagePart[] = []
  const show = () => {
    if (held.length > 0) shown.push({ role: 'user', content: held })
    held = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') show()
    const media = message.role === 'assistant' ? message.content.filter(isMedia) : []
    if (media.length === 0) shown.push(message)
    else {
      held = media
      const content = message.content.filter((part) => !isMedia(part))
      // A thought alone is refused: what it led to is missing.
      if (content.some(({ type }) => type === 'text' || type === 'tool-call')) shown.push({ ...message, content })
    }
  }
  show()
  return shown
}

function isMedia({ type }: MessagePart): boolean {
  return type === 'image' || type === 'file'
}

/** Neighbours of one role as one message, for services that want user and assistant in turn. Tool results stay single. */
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

// Who asks has no calls and no thoughts: what an assistant said is passed on as text alone.
function as(role: Role, message: Message): Message {
  const content = message.content.filter(
    (part) => !['reasoning', 'redacted-reasoning', 'tool-call'].includes(part.type),
  )
  return { ...message, role, content: message.role === 'assistant' ? content : message.content }
}
