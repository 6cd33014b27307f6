/** The messages of a conversation during a run: append-only, each encoded once, named by place ever after. */
import { storableJson } from '../../../shared/text-guards.ts'
import type { Message, MessagePart, Role } from '../../templates/message.ts'
import type { EncodedMessage } from '../ports.ts'
import type { MessageSlice } from '../run.ts'
import { inOneLine } from './frame-json.ts'

export interface MessageList {
  readonly messages: readonly Message[]
  readonly encoded: readonly EncodedMessage[]
  append(messages: readonly Message[]): void
  /** Refers to `messages` by their positions here; a message that was never appended is in the slice itself. */
  locate(messages: readonly Message[]): MessageSlice
}

export function createMessageList(earlier: readonly Message[]): MessageList {
  const messages: Message[] = []
  const encoded: EncodedMessage[] = []
  const places = new Map<string, number>()
  const own = new Map<Message, number>()
  const append = (added: readonly Message[]) => {
    for (const message of added) {
      const code = encodeMessage(message)
      if (!places.has(code.whole)) places.set(code.whole, messages.length)
      own.set(message, messages.length)
      messages.push(message)
      encoded.push(code)
    }
  }
  append(earlier)
  return {
    messages,
    encoded,
    append,
    locate(wanted) {
      const slice: (readonly [number, number] | Message)[] = []
      let open: [number, number] | undefined
      for (const message of wanted) {
        const place = placeOf(message, open?.[1])
        if (place !== undefined && open?.[1] === place) {
          open[1] += 1
          continue
        }
        open = place === undefined ? undefined : [place, place + 1]
        slice.push(open ?? message)
      }
      return slice
    },
  }

  // The next position first: equal messages may occur several times.
  function placeOf(message: Message, next: number | undefined): number | undefined {
    if (next !== undefined && messages[next] === message) return next
    // Its text may have megabytes, so it is written again only for a message outside the list.
    const known = own.get(message)
    if (known !== undefined) return known
    const code = messageJson(message)
    return next !== undefined && encoded[next]?.whole === code ? next : places.get(code)
  }
}

export function encodeMessage(message: Message): EncodedMessage {
  const whole = messageJson(message)
  const declared = declaredMessage(message)
  return { whole, declared: declared === message ? whole : messageJson(declared) }
}

function messageJson(message: Message): string {
  return inOneLine(storableJson(message))
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
  const isKnown = ({ type }: MessagePart) => known.includes(type)
  const shown = message.content.every(isKnown) ? message : { ...message, content: message.content.filter(isKnown) }
  return shown.role === 'developer' ? { ...shown, role: 'system' } : shown
}

/** The messages that a slice names. */
export function resolveSlice(slice: MessageSlice, messages: readonly Message[]): Message[] {
  return slice.flatMap((item) => (isRange(item) ? messages.slice(item[0], item[1]) : [item]))
}

export function isRange(item: MessageSlice[number]): item is readonly [from: number, to: number] {
  return Array.isArray(item)
}
