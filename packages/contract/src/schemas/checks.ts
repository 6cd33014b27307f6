import { z } from 'zod'
import { JsonObject, nullsAbsent, text, utf8Bytes } from '../common.ts'
import { CHECK_LIMITS } from '../vocabulary/limits.ts'

const jsonBytes = (value: unknown): number => utf8Bytes(JSON.stringify(value) ?? '')

const isSmall = (value: unknown): boolean => jsonBytes(value) <= CHECK_LIMITS.schemaBytes
const tooLarge = { error: `must have at most ${CHECK_LIMITS.schemaBytes} bytes as JSON` }

const negate = z.boolean().exactOptional().meta({ description: 'If true, the result of the check is inverted.' })
const field = text({ max: CHECK_LIMITS.fieldLength })
  .regex(/^(\/([^~/]|~[01])*)*$/, { error: 'must be a JSON Pointer, for example /order/id' })
  .exactOptional()
  .meta({
    pattern: undefined,
    description:
      'A JSON Pointer into the structured answer. If absent, the whole answer. An answer without the field fails, also ' +
      'with `negate`.',
  })
const texts = z
  .array(text({ min: 1, max: CHECK_LIMITS.textLength }))
  .min(1)
  .max(CHECK_LIMITS.texts)
const caseSensitive = z.boolean().exactOptional()

const ExactCheck = z.object({
  type: z.literal('exact'),
  value: z
    .unknown()
    .refine(isSmall, tooLarge)
    .exactOptional()
    .meta({ description: 'If absent, the `expected` of the row.' }),
  caseSensitive: caseSensitive.meta({ description: 'Default: true.' }),
  trim: z.boolean().exactOptional().meta({ description: 'Ignore white space around texts. Default: true.' }),
  field,
  negate,
})

const ContainsCheck = z
  .object({
    type: z.literal('contains'),
    all: texts.exactOptional().meta({ description: 'Texts that must all occur.' }),
    any: texts.exactOptional().meta({
      description: 'Texts of which one must occur. Without `all` and `any`, the `expected` of the row must occur.',
    }),
    caseSensitive: caseSensitive.meta({ description: 'Default: false.' }),
    field,
    negate,
  })
  .refine(({ all, any }) => all === undefined || any === undefined, {
    path: ['any'],
    error: 'cannot be combined with `all`',
  })

const RegexCheck = z
  .object({
    type: z.literal('regex'),
    pattern: z
      .string()
      .refine((pattern) => utf8Bytes(pattern) <= CHECK_LIMITS.patternBytes, {
        error: `must have at most ${CHECK_LIMITS.patternBytes} bytes in UTF-8`,
      })
      .meta({ description: 'A regular expression of JavaScript that matches anywhere in the answer.' }),
    flags: z
      .string()
      .regex(/^(?!.*(.).*\1)[imsu]*$/, { error: 'can have i, m, s and u, each once' })
      .exactOptional()
      .meta({ pattern: '^[imsu]*$', description: 'Any of `i`, `m`, `s` and `u`.' }),
    field,
    negate,
  })
  .superRefine(({ pattern, flags }, context) => {
    const fault = patternFault(pattern, flags)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: ['pattern'], message: fault })
  })

const JsonSchemaCheck = z.object({
  type: z.literal('json_schema'),
  schema: JsonObject.refine(isSmall, tooLarge)
    .refine((schema) => !refersElsewhere(schema), { error: 'must refer only to its own parts: `$ref` starts with `#`' })
    .meta({ description: 'A JSON Schema (draft 2020-12) without references to other documents.' }),
  field,
  negate,
})

const CostCheck = z.object({
  type: z.literal('cost'),
  max: z.number().nonnegative().meta({ description: 'The highest cost of the run that passes, in USD.' }),
  negate,
})

const LatencyCheck = z.object({
  type: z.literal('latency'),
  max: z.number().nonnegative().meta({ description: 'The longest duration of the run that passes, in ms.' }),
  negate,
})

/** Evaluations and rows of prompts have the same checks. */
export const Check = nullsAbsent(
  z.discriminatedUnion('type', [ExactCheck, ContainsCheck, RegexCheck, JsonSchemaCheck, CostCheck, LatencyCheck], {
    error: 'must be exact, contains, regex, json_schema, cost or latency',
  }),
).meta({
  id: 'Check',
  description: 'A rule for one answer.',
  example: "{ type: 'contains', any: ['refund', 'money back'] }",
})

export const Checks = z.array(Check).max(CHECK_LIMITS.checks)

/** Parses the pattern, but does not run it. */
function patternFault(pattern: string, flags: string | undefined): string | undefined {
  try {
    new RegExp(pattern, flags)
    return undefined
  } catch (error) {
    return (error as Error).message.slice(0, 200)
  }
}

/** A `$ref` with a text is a reference; with another value it is the name of a property. */
function refersElsewhere(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(([key, value]) => {
    if (typeof value === 'string') return /^\$(dynamic|recursive)?ref$/i.test(key) && !value.startsWith('#')
    return refersElsewhere(value)
  })
}
