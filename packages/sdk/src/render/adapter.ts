import type { RenderedMessage, RenderedPart } from '@stet/template'
import { Adapters, type Message as EngineMessage } from 'promptl-ai'
import { ConfigurationError } from '../index.ts'
import type { RenderOptions } from './options.ts'

export interface Adapter {
  write(config: Record<string, unknown>, messages: readonly RenderedMessage[]): unknown[]
  /** Converts one provider message. The result may be several of stet's messages. */
  read(config: Record<string, unknown>, message: object): RenderedMessage[]
}

interface Conversation {
  config: Record<string, unknown>
  messages: unknown[]
}

interface EngineAdapter {
  fromPromptl(conversation: Conversation): Conversation
  toPromptl(conversation: Conversation): Conversation
}

/** @throws ConfigurationError for an unknown name or an invalid object */
export function adapterOf(wanted: RenderOptions['adapter'] = 'openai'): Adapter {
  if (wanted === 'default') return { write: (_, messages) => [...messages], read: (_, message) => [inFull(message)] }
  const adapter: unknown =
    typeof wanted === 'string' ? Object.entries(Adapters).find(([name]) => name === wanted)?.[1] : wanted
  if (!isEngineAdapter(adapter)) {
    throw new ConfigurationError('adapter must be default, openai, openaiResponses, anthropic, or one of promptl-ai')
  }
  return {
    write: (config, messages) => adapter.fromPromptl({ config, messages: messages.flatMap(toEngine) }).messages,
    read: (config, message) =>
      (adapter.toPromptl({ config, messages: [message] }).messages as EngineMessage[]).map(fromEngine),
  }
}

function isEngineAdapter(value: unknown): value is EngineAdapter {
  const { fromPromptl, toPromptl } = (value ?? {}) as Partial<EngineAdapter>
  return typeof fromPromptl === 'function' && typeof toPromptl === 'function'
}

function inFull(message: object): RenderedMessage {
  const { content, ...rest } = message as { content?: unknown; role?: string }
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  return { role: 'assistant', ...rest, content: parts as RenderedPart[] }
}

// The engine uses one message per tool result, and a different field name for tool arguments.
function toEngine({ role, content, ...extra }: RenderedMessage): unknown[] {
  if (role !== 'tool') return [{ ...extra, role, content: content.map(toEnginePart) }]
  return content.map(({ toolCallId, toolName, result }) => ({
    ...extra,
    role,
    toolId: toolCallId,
    toolName,
    content: Array.isArray(result) && result.every(isPart) ? result : [{ type: 'text', text: textOf(result) }],
  }))
}

function toEnginePart({ args, ...part }: RenderedPart): RenderedPart {
  return part.type === 'tool-call'
    ? { ...part, type: part.type, toolArguments: args }
    : { ...part, ...(args !== undefined && { args }), type: part.type }
}

function isPart(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result)
}

function fromEngine({ content, ...message }: EngineMessage): RenderedMessage {
  const parts = content.map((part): RenderedPart => {
    if (part.type !== 'tool-call') return { ...part }
    const { toolArguments, ...call }: Record<string, unknown> = part
    return { ...call, type: part.type, args: toolArguments }
  })
  return { ...message, content: parts }
}
