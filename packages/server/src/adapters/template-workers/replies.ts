/** Validates the replies of worker processes. A prompt may have compromised its worker, so no reply is trusted. */
import { z } from 'zod'
import { slotMessages } from './slot-plan.ts'

const record = z.record(z.string(), z.unknown())

export const issueResult = z.strictObject({
  code: z.string(),
  message: z.string(),
  path: z.string(),
  line: z.int().positive(),
  column: z.int().positive(),
  endLine: z.int().positive().optional(),
  endColumn: z.int().positive().optional(),
  frame: z.string(),
})

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.array(z.looseObject({ type: z.string() })),
})

export const scanResult = z.strictObject({
  config: record,
  parameters: z.array(z.string()),
  resolvedContent: z.string(),
  references: z.array(z.string()),
  missing: z.array(z.string()),
  usesSteps: z.boolean(),
  errors: z.array(issueResult),
  warnings: z.array(issueResult),
  /** Present only for a prompt of text, role tags and plain variable names. */
  slots: slotMessages.optional(),
})

export const stepResult = z.union([
  z.strictObject({
    done: z.literal(false),
    input: z.array(message),
    added: z.array(message),
    config: record,
    state: record,
  }),
  z.strictObject({ done: z.literal(true), added: z.array(message) }),
])

export const answerResult = z.array(z.strictObject({ path: z.string(), message: z.string() }))

const head = { id: z.int(), residentBytes: z.int(), heapBytes: z.int() }
const reply = z.union([
  z.strictObject({ ...head, result: z.unknown() }),
  z.strictObject({ ...head, issue: record }),
  z.strictObject({ ...head, failure: z.string() }),
])

export function parseReply(line: string, expectedId: number | undefined) {
  try {
    const read = reply.parse(JSON.parse(line))
    if (read.id !== expectedId) return undefined
    const { residentBytes, heapBytes, ...rest } = read
    return { reply: rest, residentBytes, heapBytes }
  } catch {
    return undefined
  }
}
