import type { MessageContent as EngineContent, Message as EngineMessage } from 'promptl-ai'
import { checkDepth } from '../../src/evaluate/values/value-depth.ts'

/** Attributes from the prompt become additional keys. */
export type RenderedPart = { type: string } & Record<string, unknown>

export interface RenderedMessage {
  role: string
  content: RenderedPart[]
  [extra: string]: unknown
}

/** Thrown if the arguments of a tool call are not an object. The engine accepts other values. */
export class ToolArgumentsError extends Error {
  override readonly name = 'ToolArgumentsError'
}

export function toRendered(message: EngineMessage): RenderedMessage {
  const { role, content, ...extra } = message
  const parts = content.map(toPart)
  if (role !== 'tool') return { role, content: parts, ...defined(extra) }
  const { toolId, toolName, ...rest } = extra
  const result = {
    type: 'tool-result',
    toolCallId: String(toolId),
    toolName: String(toolName),
    result: toolResult(parts),
  }
  return { role, content: [result], ...defined(rest) }
}

function toPart(content: EngineContent): RenderedPart {
  if (content.type !== 'tool-call') return defined(content)
  // If `toolArguments` is text, the engine adds the parsed value as `arguments`.
  const { toolArguments, arguments: parsed, ...rest }: Record<string, unknown> = content
  const args = typeof toolArguments === 'string' ? (parsed ?? {}) : toolArguments
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw new ToolArgumentsError('Tool calls must contain a JSON object as arguments')
  }
  return { ...defined(rest), ...defined({ args }) }
}

/** A text-only result becomes one string. Other results stay a list of parts. */
function toolResult(parts: readonly RenderedPart[]): unknown {
  return parts.every((part) => part.type === 'text') ? parts.map((part) => String(part['text'])).join('\n') : parts
}

function defined(values: Record<string, unknown>): RenderedPart {
  checkDepth(values)
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as RenderedPart
}
