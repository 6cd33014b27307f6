import { jsonPart } from '../rendering/json-part.ts'
import type { Tag } from '../syntax/nodes.ts'
import type { Machine } from './machine.ts'
import type { RenderedMessage } from './messages.ts'
import { EvaluationError, type Meter } from './values/fuel.ts'
import { copied } from './values/printed.ts'
import { toText, type Value } from './values/values.ts'

const NO_ANSWER: RenderedMessage = { role: 'assistant', content: [] }

/**
 * Gives the answer to the step that waits for it, and continues behind the step. Only the last assistant message fills
 * the variables of `as` and `raw`.
 */
export function answerStep({ stack, run: { meter } }: Machine, answer: readonly RenderedMessage[]): void {
  const frame = stack.pop()
  if (!frame) return
  const { attributes = {}, scope } = frame
  const message = answer.findLast(({ role }) => role === 'assistant') ?? NO_ANSWER
  meter.at = frame.node
  const set = (attribute: string, value: () => Value): void => {
    if (Object.hasOwn(attributes, attribute)) scope.set(toText(attributes[attribute], meter), value(), meter)
  }
  const isJson = Object.hasOwn(attributes, 'schema')
  set('raw', () => copied((isJson ? withJsonOnly(message) : message) as Value, meter))
  set('as', () => (isJson ? parsedAnswer(message, frame.node as Tag, meter) : textOf(message)))
}

function textOf({ content }: RenderedMessage): string {
  return content.flatMap((part) => (part.type === 'text' ? [String(part['text'])] : [])).join('')
}

function withJsonOnly(message: RenderedMessage): RenderedMessage {
  const content = message.content.map((part) =>
    part.type === 'text' ? { ...part, text: jsonPart(String(part['text'])) } : part,
  )
  return { ...message, content }
}

function parsedAnswer(message: RenderedMessage, step: Tag, meter: Meter): Value {
  const text = textOf(withJsonOnly(message)).trim()
  meter.spendText(text.length)
  let parsed: Value
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    const fault = `Step response must be a valid JSON object: ${reason}`
    throw new EvaluationError('invalid-step-response-format', fault, step)
  }
  return copied(parsed, meter)
}
