/**
 * Keeps large files of assistant messages out of the evaluation, which limits the text of its state. The evaluation gets
 * a placeholder for each file. Placeholders in the rendered messages become files again.
 */
import { randomUUID } from 'node:crypto'
import type { Message, MessagePart } from '@stet/contract/vocabulary'
import { RunError } from '../../shared/app-error.ts'

export type HeldFiles = ReturnType<typeof heldFiles>

/** Values up to this length, such as URLs and small files, are not replaced. */
const heldCharacters = 10_000

/** Limits the text of repeated files, because a prompt can repeat a placeholder. Each file's first use is free. */
const repeatedMegabytes = 32

export function heldFiles() {
  const files = new Map<string, string>()
  let prefix = ''
  const word = (content: string) => {
    if (content.length <= heldCharacters) return content
    // The random prefix cannot be guessed, so no text of a prompt or a caller can look like a placeholder.
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
    hide: (messages: Message[]): Message[] =>
      messages.map((message) =>
        message.role === 'assistant' ? { ...message, content: message.content.map(hidePart) } : message,
      ),
    /**
     * Replaces placeholders with their files, also within texts.
     * @throws RunError `ai_run_error` if the files are repeated too often. The check precedes all replacements.
     */
    show(messages: Message[]): Message[] {
      if (files.size === 0) return messages
      const words = new RegExp(`${prefix}\\d+\\.`, 'g')
      if (repeatedCharacters(messages, words, files) > repeatedMegabytes * 1024 * 1024) {
        throw new RunError('ai_run_error', `The prompt repeats its files beyond ${repeatedMegabytes} MB`)
      }
      return mapTexts(messages, (text) => text.replace(words, (name) => files.get(name) ?? name)) as Message[]
    },
  }
}

/** Counts the characters of repeated files, without the first use of each. */
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
