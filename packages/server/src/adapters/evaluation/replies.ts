/** Validates the replies of the evaluation thread. */
import { z } from 'zod'

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
  issues: z.array(issueResult.extend({ severity: z.enum(['error', 'warning']) })),
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
