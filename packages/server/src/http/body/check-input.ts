/** Validates queries and bodies. Caps the cost of error reporting. */
import type { z } from 'zod'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { refuseText } from '../../shared/text-guards.ts'
import { issueWords, plainIssues } from './issue-words.ts'

export interface RequestIssue {
  path: readonly PropertyKey[]
  code: string
  message: string
}

export function invalidRequest(
  cause: 'refused-query' | 'invalid-query' | 'invalid-body',
  issues: readonly RequestIssue[],
): AppError {
  const listed = issues.slice(0, 50).map(({ path, code, message }) => ({ path: path.map(wirePathPart), code, message }))
  return refuse(cause, { issues: listed })
}

function wirePathPart(part: PropertyKey): string | number {
  return typeof part === 'symbol' ? part.toString() : part
}

/** @throws AppError BadRequestError for text that cannot be stored. */
export function refuseQuery(query: object): void {
  for (const [key, value] of Object.entries(query)) {
    const reason = refuseText(key) ?? refuseText(String(value))
    if (reason !== undefined) throw invalidRequest('refused-query', [{ path: [key], code: 'custom', message: reason }])
  }
}

/** For input with this many values or more, only the first invalid value is reported. */
const fullyCheckedValues = 10_000

// Stops at the first invalid value. Otherwise a large body could create an issue for each of its values.
const untilFirstIssue: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true, error: issueWords }

export function checkedInput(schema: z.ZodType): object {
  return {
    '~standard': {
      version: 1,
      vendor: 'stet',
      validate(input: unknown): { value: unknown } | { issues: readonly z.core.$ZodIssue[] } {
        const quick = schema.safeParse(input, untilFirstIssue)
        if (quick.success) return { value: quick.data }
        const isSmall = countValues(input, fullyCheckedValues) < fullyCheckedValues
        const { error = quick.error } = isSmall ? schema.safeParse(input, { error: issueWords }) : {}
        return { issues: error.issues.flatMap(plainIssues) }
      },
    },
  }
}

function countValues(value: unknown, most: number): number {
  let count = 1
  if (typeof value !== 'object' || value === null) return count
  for (const item of Object.values(value)) {
    if (count >= most) return most
    count += countValues(item, most - count)
  }
  return count
}
