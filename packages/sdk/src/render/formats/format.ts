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

/** The results of one message, each with content in parts. Providers have one message or item per result. */
export function toolResults({ content }: RenderedMessage) {
  return content.map(({ toolCallId, toolName, result }) => ({
    toolCallId,
    toolName,
    parts: Array.isArray(result) && result.every(isPart) ? result : [textPart(asText(result))],
  }))
}

function isPart(value: unknown): value is RenderedPart {
  return typeof value === 'object' && value !== null && 'type' in value
}

function asText(result: unknown): unknown {
  return typeof result === 'string' ? result : JSON.stringify(result)
}

/** Text of a prompt is already in base64. Tool handlers can return bytes. */
export function base64Of(data: unknown): string {
  return data instanceof Uint8Array
    ? btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(''))
    : textOf(data)
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
