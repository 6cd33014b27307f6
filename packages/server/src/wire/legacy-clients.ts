/** Recognizes legacy clients by `X-Latitude-SDK-Version` and adapts responses to their models. */
import { ProviderKind } from '@stet/contract'
import type { Message, MessagePart, ProviderKey, Role, RunResult as RunResultBody } from '@stet/contract/vocabulary'

export interface ClientGeneration {
  /** True if the header is present. Such clients parse responses with strict models. */
  declared: boolean
  /** True for SDK 5.0.x and 5.1.x, which read the event stream of a background run. */
  backgroundStreams: boolean
}

// The length limits keep the pattern cheap for hostile headers. Real versions are shorter.
const semver = /^(\d{1,9})\.(\d{1,9})\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{0,100})?$/

export function clientGeneration(header: string | undefined): ClientGeneration {
  if (header === undefined) return { declared: false, backgroundStreams: false }
  const [, major, minor] = semver.exec(header.trim()) ?? []
  return { declared: true, backgroundStreams: Number(major) === 5 && (Number(minor) === 0 || Number(minor) === 1) }
}

/** Returns undefined for an unknown type, because legacy clients accept only the listed types. */
export function providerKind(kind: string | undefined): ProviderKey['provider'] | undefined {
  const parsed = ProviderKind.safeParse(kind)
  return parsed.success ? parsed.data : undefined
}

/** The parts that legacy clients' strict models accept, by role. */
const declaredParts: Readonly<Record<Role, readonly MessagePart['type'][]>> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image', 'file'],
  assistant: ['text', 'tool-call'],
  tool: ['tool-result'],
}

/** Removes parts that legacy clients' models refuse, and replaces the role developer with system. */
export function declaredMessage(message: Message): Message {
  const known = declaredParts[message.role]
  const content: MessagePart[] = []
  for (const part of message.content) if (known.includes(part.type)) content.push(part)
  if (message.role === 'developer') return { ...message, content, role: 'system' }
  return content.length === message.content.length ? message : { ...message, content }
}

export function shownMessages(messages: readonly Message[], isDeclared: boolean): Message[] {
  return isDeclared ? messages.map(declaredMessage) : [...messages]
}

type WireMessage = RunResultBody['conversation'][number]

/** Adds `content` to each text part, with the same text as `text`. */
export function withBothKeys(message: WireMessage): WireMessage {
  const content = message.content.map((part) => (part.type === 'text' ? { ...part, content: part.text } : part))
  return { ...message, content } as WireMessage
}
