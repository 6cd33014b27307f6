/**
 * Large files of a chain stay out of the evaluation of its prompt, which has little memory and room: it gets a word for
 * each, and the words become files again in what it makes.
 */
import { randomUUID } from 'node:crypto'
import { RunError } from '../../shared/app-error.ts'
import type { Message, MessagePart } from './message.ts'

export interface HeldFiles {
  /** The messages with a word in the place of every large file. */
  hide(messages: Message[]): Message[]
  /**
   * What was made of them, also where a prompt wrote such a word into a text.
   * @throws RunError `ai_run_error` where the files are repeated beyond all measure; nothing was built then.
   */
  show(messages: Message[]): Message[]
}

/** Addresses and small files pass. */
const heldCharacters = 10_000

/**
 * A word is short, and a prompt can write it as often as it likes. Each file is once free, in the message that it came
 * with: how much files a run makes is bounded by its event log.
 */
const repeatedMegabytes = 32

export function heldFiles(): HeldFiles {
  const files = new Map<string, string>()
  let prefix = ''
  const word = (content: string) => {
    if (content.length <= heldCharacters) return content
    // Nobody can guess the word, so no text that a prompt or a caller wrote is taken for it.
    prefix ||= `file-${randomUUID()}-`
    const name = `${prefix}${files.size}.`
    files.set(name, content)
    return name
  }
  const hidePart = (part: MessagePart): MessagePart => {
    if (part.type === 'image') return { ...part, image: word(part.image) }
    return part.type === 'file' ? { ...part, file: word(part.file) } : part
  }
  return {
    hide: (messages) =>
      messages.map((message) =>
        message.role === 'assistant' ? { ...message, content: message.content.map(hidePart) } : message,
      ),
    show(messages) {
      if (files.size === 0) return messages
      const words = new RegExp(`${prefix}\\d+\\.`, 'g')
      if (repeatedCharacters(messages, words, files) > repeatedMegabytes * 1024 * 1024) {
        throw new RunError('ai_run_error', `The prompt repeats its files beyond ${repeatedMegabytes} MB`)
      }
      return mapTexts(messages, (text) => text.replace(words, (name) => files.get(name) ?? name)) as Message[]
    },
  }
}

/** What the words stand for in all texts together, each file left out once. */
function repeatedCharacters(messages: Message[], words: RegExp, files: ReadonlyMap<string, string>): number {
  const seen = new Set<string>()
  let characters = 0
  mapTexts(messages, (text) => {
    for (const [name] of text.matchAll(words)) {
      if (seen.has(name)) characters += files.get(name)?.length ?? 0
      seen.add(name)
    }
    return text
  })
  return characters
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, mapTexts(child, map)]))
}
