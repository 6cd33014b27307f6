/** Bodies against their schemas: telling what is wrong with a body must not cost more than the body. */
import type { z } from 'zod'

/** For a body with more values, only the first error is reported. */
const fullyCheckedValues = 10_000
type Checked = { value: unknown } | { issues: readonly z.core.$ZodIssue[] }

// A list of two million wrong items would make as many issues; zod hands them on as arguments of one call, which ends the process.
const untilFirstFault: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true }

/** The schema as ts-rest asks it: in one go, and what it throws is thrown here. */
export function checkedBody(schema: z.ZodType): object {
  return { '~standard': { version: 1, vendor: 'stet', validate: (body: unknown) => check(schema, body) } }
}

function check(schema: z.ZodType, body: unknown): Checked {
  const quick = schema.safeParse(body, untilFirstFault)
  if (quick.success) return { value: quick.data }
  const { error = quick.error } =
    countValues(body, fullyCheckedValues) < fullyCheckedValues ? schema.safeParse(body) : {}
  return { issues: error.issues }
}

/** Counts a JSON value with everything inside; stops at `most`. */
function countValues(value: unknown, most: number): number {
  let count = 1
  if (typeof value !== 'object' || value === null) return count
  for (const item of Object.values(value)) {
    if (count >= most) return most
    count += countValues(item, most - count)
  }
  return count
}
