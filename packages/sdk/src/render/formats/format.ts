import type { RenderedMessage, RenderedPart } from '@stet/template'
import { invalidContent } from '../failures.ts'

export interface Conversation {
  config: Record<string, unknown>
  messages: unknown[]
}

/** Converts between stet's messages and those of a provider. */
export interface Format {
  write(config: Record<string, unknown>, messages: readonly RenderedMessage[]): Conversation
  /** Reads a model's response. */
  read(answer: Record<string, unknown>): RenderedMessage[]
}

export function textPart(text: unknown): RenderedPart {
  return { type: 'text', text }
}

/** The results of one message, each with content in parts. OpenAI has one message or item per result. */
export function toolResults({ content }: RenderedMessage) {
  return content.map(({ toolCallId, toolName, result, isError }) => ({
    toolCallId,
    toolName,
    // No API takes an empty list of parts.
    parts: Array.isArray(result) && result.length > 0 && result.every(isPart) ? result : [textPart(asText(result))],
    isError: isError === true,
  }))
}

function isPart(value: unknown): value is RenderedPart {
  return typeof value === 'object' && value !== null && 'type' in value
}

function asText(result: unknown): unknown {
  return typeof result === 'string' ? result : JSON.stringify(result)
}

export type Media = { url: string } | { base64: string; mimeType: string }

const IMAGE_TYPES = { '/9j/': 'image/jpeg', R0lG: 'image/gif', UklGR: 'image/webp' }

/** Text of a prompt is a URL, a data URL or base64, as on the server. Tool handlers can return bytes. */
export function mediaOf(data: unknown, mimeType?: unknown): Media {
  const given = typeof mimeType === 'string' ? mimeType.toLowerCase() : undefined
  const text = data instanceof Uint8Array ? base64Of(data) : textOf(data)
  if (/^https?:\/\//i.test(text)) return { url: text }
  const head = /^data:([^;,]*)(?:;[^,]*)?,/i.exec(text)
  if (!head) return { base64: text, mimeType: given ?? imageTypeOf(text) }
  const body = text.slice(head[0].length)
  const base64 = /;base64,$/i.test(head[0]) ? body : base64Of(new TextEncoder().encode(decoded(body)))
  return { base64, mimeType: head[1]?.toLowerCase() || (given ?? 'image/png') }
}

/** A part with an image: one of type `image`, or a file with an image's type. */
export function isImage({ type, mimeType }: RenderedPart): boolean {
  return type === 'image' || (type === 'file' && /^image\//i.test(String(mimeType)))
}

export function imageOf({ image, file, mimeType }: RenderedPart): Media {
  return mediaOf(image ?? file, mimeType)
}

export function addressOf(media: Media): string {
  return 'url' in media ? media.url : `data:${media.mimeType};base64,${media.base64}`
}

/** The name that OpenAI demands beside the data of a file. */
export function fileName({ name }: RenderedPart): string {
  return typeof name === 'string' ? name : 'file'
}

function imageTypeOf(base64: string): string {
  return Object.entries(IMAGE_TYPES).find(([start]) => base64.startsWith(start))?.[1] ?? 'image/png'
}

function base64Of(data: Uint8Array): string {
  return btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(''))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function textOf(data: unknown): string {
  if (data instanceof Uint8Array) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(data)
  if (typeof data === 'string' || data instanceof URL) return String(data)
  throw invalidContent('An image or a file must be text, a URL or a Uint8Array')
}

/** Providers shorten content of one text part to a string. */
export function partsOf(content: unknown): RenderedPart[] {
  if (typeof content === 'string') return [textPart(content)]
  if (Array.isArray(content)) return content
  throw invalidContent('onStep returned a message without content')
}

export function parsedArguments(name: unknown, text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch (cause) {
    throw invalidContent(`onStep returned a call of the tool ${name} whose arguments are not JSON`, cause)
  }
}
