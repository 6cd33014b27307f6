/** Published clients of the interface: which one is calling (`X-Latitude-SDK-Version`), and the shapes that their models need. */
import { ProviderKind, type RunResult as RunResultBody } from '@stet/contract'
import type { Message, MessagePart, Role } from '../features/templates/message.ts'

/** The client that is calling. */
export interface ClientGeneration {
  /** The header is present: strict client models read the answers. */
  declared: boolean
  /** SDK 5.0.x and 5.1.x read the event stream of a background run that asks for one. */
  backgroundStreams: boolean
}

// The longest semver that exists fits easily; the bound keeps the pattern cheap on hostile headers.
const semver = /^(\d{1,9})\.(\d{1,9})\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{0,100})?$/

export function clientGeneration(header: string | undefined): ClientGeneration {
  if (header === undefined) return { declared: false, backgroundStreams: false }
  const [, major, minor] = semver.exec(header.trim()) ?? []
  return { declared: true, backgroundStreams: Number(major) === 5 && (Number(minor) === 0 || Number(minor) === 1) }
}

/** Published clients accept only the listed types, so an unknown one is omitted. */
export function providerKind(kind: string | undefined): ProviderKind | undefined {
  const parsed = ProviderKind.safeParse(kind)
  return parsed.success ? parsed.data : undefined
}

/** The parts that the strict models of published clients accept, by role. */
const declaredParts: Readonly<Record<Role, readonly MessagePart['type'][]>> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image', 'file'],
  assistant: ['text', 'tool-call'],
  tool: ['tool-result'],
}

/** The message without parts that the models of published clients refuse, and without the role developer. */
export function declaredMessage(message: Message): Message {
  const known = declaredParts[message.role]
  const content: MessagePart[] = []
  for (const part of message.content) if (known.includes(part.type)) content.push(part)
  if (message.role === 'developer') return { ...message, content, role: 'system' }
  return content.length === message.content.length ? message : { ...message, content }
}

/** Messages as a caller gets them. */
export function shownMessages(messages: readonly Message[], isDeclared: boolean): Message[] {
  return isDeclared ? messages.map(declaredMessage) : [...messages]
}

type WireMessage = RunResultBody['conversation'][number]

/** Text parts with their text under `text` and under `content`. */
export function withBothKeys(message: WireMessage): WireMessage {
  const content = message.content.map((part) => (part.type === 'text' ? { ...part, content: part.text } : part))
  return { ...message, content } as WireMessage
}
