import { z } from 'zod'
import type { Message } from '../../features/templates/message.ts'
import type { TemplateStep } from '../../features/templates/template-engine.ts'

/** The messages of a prompt of text, role tags and plain names, as a child reads them once. */
export const slotMessages = z.array(
  z.strictObject({
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    /** Text outside of tags: no message when nothing but white space comes of it. */
    isStray: z.boolean(),
    pieces: z.array(z.union([z.string(), z.strictObject({ name: z.string() })])),
  }),
)

type SlotMessages = z.infer<typeof slotMessages>

/** All that it takes to render such a prompt here. */
export interface SlotPlan {
  messages: SlotMessages
  config: Record<string, unknown>
}

export function slotPlanOf(messages: SlotMessages, frontMatter: Record<string, unknown>): SlotPlan {
  // As in a child: the word is the language's own, and says nothing about a prompt without steps.
  const { isolated: _isolated, ...config } = frontMatter
  return { messages, config }
}

/** More is left to a child: long texts would keep other requests waiting here. */
const MAX_CHARS = 65_536
/** The mark by which the language recognises an image or a file: these are parts of their own, not text. */
const FILE_MARK = '"__promptlType"'
// As a child's answers are: without what no database keeps. With the u flag a paired surrogate is one code point, so only lone ones match.
const UNSTORABLE = /\0|\p{Surrogate}/gu

/** The step that a child would render, or undefined where it takes a child. */
export function joinSlots(plan: SlotPlan, parameters: Readonly<Record<string, unknown>>): TemplateStep | undefined {
  const messages: Message[] = []
  let chars = 0
  for (const { role, isStray, pieces } of plan.messages) {
    const joined = join(pieces, parameters)
    chars += joined?.length ?? 0
    if (joined === undefined || chars > MAX_CHARS) return undefined
    const text = withoutCommonIndent(joined)
    if (text !== '') messages.push({ role, content: [{ type: 'text', text: text.replace(UNSTORABLE, '\uFFFD') }] })
    else if (!isStray) messages.push({ role, content: [] })
  }
  return { done: false, input: messages, added: messages, config: plan.config, state: {} }
}

function join(
  pieces: SlotMessages[number]['pieces'],
  parameters: Readonly<Record<string, unknown>>,
): string | undefined {
  let joined = ''
  for (const piece of pieces) {
    const text = typeof piece === 'string' ? piece : printed(parameters, piece.name)
    if (text === undefined || joined.length + text.length > MAX_CHARS) return undefined
    joined += text
  }
  return joined
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

/** A message loses the indent that all its lines share, those of its values included, and the space around it. */
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
