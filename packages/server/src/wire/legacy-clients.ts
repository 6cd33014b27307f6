/** Recognizes legacy clients by `X-Latitude-SDK-Version`, and rewrites bodies and frames for their strict models. */
import { ProviderKind } from '@stet/contract'
import type { Message, MessagePart, ProviderKey, Role, RunResult as RunResultBody } from '@stet/contract/vocabulary'
import type { AddFrame, EventPiece } from '../features/runs/ports.ts'
import { addFrame, encodeMessage } from './run-frames.ts'

export interface LegacyClient {
  /** True for SDK 5.0.x and 5.1.x, which read the event stream of a background run. */
  readsBackgroundStreams: boolean
}

// The length limits keep the pattern cheap for hostile headers. Real versions are shorter.
const semver = /^(\d{1,9})\.(\d{1,9})\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{0,100})?$/

/** @returns undefined without the header: only legacy clients send it. */
export function legacyClient(header: string | undefined): LegacyClient | undefined {
  if (header === undefined) return undefined
  const [, major, minor] = semver.exec(header.trim()) ?? []
  return { readsBackgroundStreams: Number(major) === 5 && (Number(minor) === 0 || Number(minor) === 1) }
}

/** Returns undefined for an unknown type, because legacy clients accept only the listed types. */
export function providerKind(kind: string | undefined): ProviderKey['provider'] | undefined {
  const parsed = ProviderKind.safeParse(kind)
  return parsed.success ? parsed.data : undefined
}

/** The parts that legacy clients' models accept, by role. */
const acceptedParts: Readonly<Record<Role, readonly MessagePart['type'][]>> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image', 'file'],
  assistant: ['text', 'tool-call'],
  tool: ['tool-result'],
}

/** Removes parts that legacy clients' models refuse, and replaces the role developer with system. */
function legacyMessage(message: Message): Message {
  const accepted = acceptedParts[message.role]
  const content = message.content.filter(({ type }) => accepted.includes(type))
  if (message.role === 'developer') return { ...message, content, role: 'system' }
  return content.length === message.content.length ? message : { ...message, content }
}

interface BodyWithMessages {
  conversation?: Message[]
  messages?: Message[] | null
  response?: { input: Message[]; output: Message[] }
}

/** Rewrites a body's messages for a legacy client. Other clients get the body as it is. */
export function clientBody<Body extends BodyWithMessages>(client: LegacyClient | undefined, body: Body): Body {
  if (!client) return body
  const { conversation, messages, response } = body
  return {
    ...body,
    ...(conversation && { conversation: conversation.map(legacyMessage) }),
    ...(messages && { messages: messages.map(legacyMessage) }),
    ...(response && {
      response: { ...response, input: response.input.map(legacyMessage), output: response.output.map(legacyMessage) },
    }),
  }
}

/** Returns the function that adds the frames for one reader. For a legacy client, it rewrites each message once. */
export function clientFrames(client: LegacyClient | undefined): AddFrame {
  if (!client) return addFrame
  let source: readonly string[] | undefined
  let rewritten: string[] = []
  return (into, entry, messages) => {
    // A reader that changes to the stored log gets another list, whose messages may differ.
    if (messages !== source) {
      source = messages
      rewritten = []
    }
    if ('bytes' in entry || typeof entry.pieces === 'string') return addFrame(into, entry, messages)
    const { id, pieces } = entry
    if (String(pieces[0]).startsWith(toolsRequested)) return
    for (const json of messages.slice(rewritten.length)) rewritten.push(legacyJson(json))
    addFrame(into, { id, pieces: pieces.map(legacyPiece) }, rewritten)
  }
}

/** The start of the one event that legacy clients' models refuse. */
const toolsRequested = 'event: latitude-event\ndata: {"type":"tools-requested"'

/** Rewrites a message outside the conversation. Such a message is a piece of its own in a JSON array. */
function legacyPiece(piece: EventPiece, place: number, pieces: readonly EventPiece[]): EventPiece {
  const before = pieces[place - 1]
  const isInArray = before === ',' || (typeof before === 'string' && before.endsWith('['))
  return isInArray && typeof piece === 'string' && piece.startsWith('{') ? legacyJson(piece) : piece
}

function legacyJson(json: string): string {
  const message = JSON.parse(json) as Message
  const legacy = legacyMessage(message)
  return legacy === message ? json : encodeMessage(legacy)
}

type WireMessage = RunResultBody['conversation'][number]

/** Adds `content` to each text part, with the same text as `text`. */
export function withBothKeys(message: WireMessage): WireMessage {
  const content = message.content.map((part) => (part.type === 'text' ? { ...part, content: part.text } : part))
  return { ...message, content } as WireMessage
}
