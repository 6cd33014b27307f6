/** The adapter objects of promptl-ai. Its messages have one tool result each, and another name for the arguments. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { type Conversation, type Format, toolResults } from './format.ts'

export interface AdapterObject {
  fromPromptl(conversation: Conversation): Conversation
  toPromptl(conversation: Conversation): Conversation
}

export function isAdapterObject(value: object): value is AdapterObject {
  const { fromPromptl, toPromptl } = value as Partial<AdapterObject>
  return typeof fromPromptl === 'function' && typeof toPromptl === 'function'
}

export function formatOfObject(adapter: AdapterObject): Format {
  return {
    write: (config, messages) => adapter.fromPromptl({ config, messages: messages.flatMap(toPromptl) }),
    // The configuration stays out, because its system messages would become a part of the response.
    read: (answer) => adapter.toPromptl({ config: {}, messages: [answer] }).messages.map(fromPromptl),
  }
}

function toPromptl(message: RenderedMessage): unknown[] {
  const { role, content, ...extra } = message
  if (role !== 'tool') return [{ ...extra, role, content: content.map(toPromptlPart) }]
  return toolResults(message).map(({ toolCallId, toolName, parts }) => {
    return { ...extra, role, toolId: toolCallId, toolName, content: parts }
  })
}

function toPromptlPart(part: RenderedPart): RenderedPart {
  if (part.type !== 'tool-call') return part
  const { args, ...call } = part
  return { ...call, type: part.type, toolArguments: args }
}

function fromPromptl(message: unknown): RenderedMessage {
  const { content, ...rest } = message as RenderedMessage
  return { ...rest, content: content.map(fromPromptlPart) }
}

function fromPromptlPart(part: RenderedPart): RenderedPart {
  if (part.type !== 'tool-call') return part
  const { toolArguments, ...call } = part
  return { ...call, type: part.type, args: toolArguments }
}
