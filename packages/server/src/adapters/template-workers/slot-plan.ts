import type { Message } from '@stet/contract/vocabulary'
import { z } from 'zod'
import type { SlotPlan, TemplateStep } from '../../features/templates/template-engine.ts'

export const slotMessages = z.array(
  z.strictObject({
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    isStray: z.boolean(),
    pieces: z.array(z.union([z.string(), z.strictObject({ name: z.string() })])),
  }),
)

export function slotPlanOf(messages: SlotPlan['messages'], frontMatter: Record<string, unknown>): SlotPlan {
  // Removes `isolated`, as a worker process does. The key has no effect without steps.
  const { isolated: _isolated, ...config } = frontMatter
  return { messages, config }
}

/** A worker process renders longer texts, because joining them here would delay other requests. */
const MAX_CHARS = 65_536
/** Occurs in the JSON of an image or a file. A worker process renders these as separate parts. */
const FILE_MARK = '"__promptlType"'
// Databases cannot store NUL and lone surrogates. With the `u` flag, `\p{Surrogate}` matches only lone ones.
const UNSTORABLE = /\0|\p{Surrogate}/gu

/** Renders the same step as a worker process. Returns undefined if only a worker process can render the step. */
export function joinSlots(plan: SlotPlan, parameters: Readonly<Record<string, unknown>>): TemplateStep | undefined {
  const messages: Message[] = []
  let chars = 0
  for (const { role, isStray, pieces } of plan.messages) {
    let joined = ''
    for (const piece of pieces) {
      const text = typeof piece === 'string' ? piece : printed(parameters, piece.name)
      if (text === undefined || chars + text.length > MAX_CHARS) return undefined
      joined += text
      chars += text.length
    }
    const text = withoutCommonIndent(joined)
    if (text !== '') messages.push({ role, content: [{ type: 'text', text: text.replace(UNSTORABLE, '\uFFFD') }] })
    else if (!isStray) messages.push({ role, content: [] })
  }
  return { done: false, input: messages, added: messages, config: plan.config, state: {} }
}

function printed(parameters: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || value === null) return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (typeof value !== 'object') return undefined
  const json = JSON.stringify(value)
  return json.includes(FILE_MARK) ? undefined : json
}

function withoutCommonIndent(text: string): string {
  if (!text.includes('\n')) return text.trim()
  const lines = text.split('\n')
  let indent = Number.POSITIVE_INFINITY
  for (const line of lines) {
    const bare = line.trimStart()
    if (bare !== '') indent = Math.min(indent, line.length - bare.length)
  }
  const isIndented = indent > 0 && indent < Number.POSITIVE_INFINITY
  return (isIndented ? lines.map((line) => line.slice(indent)).join('\n') : text).trim()
}
