/** Validates queries and bodies, caps the cost of error reporting, and says in plain words what a schema expects. */
import type { z } from 'zod'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { refuseText } from '../../shared/text-guards.ts'

type Issue = z.core.$ZodIssue

const nouns: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** The `error` option of zod's parse functions. Undefined keeps zod's message. */
const issueWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `${nounOf(issue.expected)} is required`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'unrecognized_keys':
      return `has unknown keys: ${issue.keys.map(shortened).join(', ')}`
    case 'too_small':
      return `must ${sizeOf(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`
    case 'too_big':
      return `must ${sizeOf(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return `must be a valid ${issue.format === 'datetime' ? 'ISO 8601 time' : issue.format}`
    case 'invalid_union':
      // Without a discriminator, `plainIssues` replaces this issue.
      return Array.isArray(issue['options']) ? oneOf(issue['options']) : undefined
    default:
      return undefined
  }
}

/** Replaces a failed union by the issues of the branch that the value comes closest to. */
function plainIssues(issue: Issue): readonly Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
  const depthOf = (branch: readonly Issue[]) => Math.min(...branch.map(({ path }) => path.length))
  const closest = issue.errors.reduce((best, each) => (depthOf(each) > depthOf(best) ? each : best))
  if (depthOf(closest) > 0) {
    return closest.flatMap((inner) => plainIssues({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  const expected = issue.errors.flat().map((each) => (each.code === 'invalid_type' ? nounOf(each.expected) : undefined))
  const known = [...new Set(expected)].filter((noun) => noun !== undefined)
  return [{ ...issue, message: known.length > 0 ? `${known.join(' or ')} is required` : issue.message }]
}

function nounOf(expected: string): string {
  return nouns[expected] ?? `a value of type ${expected}`
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.map(String).join(', ')}`
}

function sizeOf(origin: string, limit: string, bound: number | bigint): string {
  const counted = origin === 'string' ? 'character' : origin === 'array' || origin === 'set' ? 'item' : undefined
  return counted === undefined ? `be ${limit} ${bound}` : `have ${limit} ${bound} ${counted}${bound === 1 ? '' : 's'}`
}

// A caller chooses the names of unknown keys.
function shortened(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}

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
