/** The tool calls of a run with their arguments and results, for its timeline. Pure. */
import type { Message, RunSpan } from '@stet/sdk'
import { partsOf } from '../../../../runs/session/rounds.ts'

export interface ToolCall {
  name: string
  args: unknown
  /** Undefined without a result. */
  result: unknown
}

/** The calls in the messages, in their order. */
export function callsIn(messages: readonly Message[]): ToolCall[] {
  const parts = messages.flatMap(partsOf)
  const results = new Map(
    parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part.result]] : [])),
  )
  return parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ name: part.toolName, args: part.args, result: results.get(part.toolCallId) }] : [],
  )
}

/**
 * The call of a span: the messages have the calls of a tool in the order in which they began. Calls inside an agent are
 * not among the messages of the run.
 */
export function callOf(spans: readonly RunSpan[], at: number, calls: readonly ToolCall[]): ToolCall | undefined {
  const span = spans[at]
  if (!span || !isCall(span) || isInsideCall(spans, span)) return undefined
  const earlier = spans.slice(0, at).filter((one) => isCall(one) && one.name === span.name && !isInsideCall(spans, one))
  return calls.filter(({ name }) => name === span.name)[earlier.length]
}

function isCall({ kind }: RunSpan): boolean {
  return kind === 'tool' || kind === 'wait'
}

function isInsideCall(spans: readonly RunSpan[], { parent }: RunSpan): boolean {
  const above = parent === null ? undefined : spans[parent]
  return above !== undefined && (isCall(above) || isInsideCall(spans, above))
}

/** How many spans are above this one. */
export function depthOf(spans: readonly RunSpan[], { parent }: RunSpan): number {
  const above = parent === null ? undefined : spans[parent]
  return above ? depthOf(spans, above) + 1 : 0
}
