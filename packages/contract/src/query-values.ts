/** Query values are strings, so these schemas convert them. Types and the OpenAPI document show the converted value. */
import { z } from 'zod'
import { documentedAs } from './documented.ts'
import { LIMITS } from './vocabulary/limits.ts'

const size = z.int().min(1).max(LIMITS.pageSize)

/** The number of items on a page of a list. */
export const pageSize = documentedAs(
  z
    .string()
    .regex(/^\d{1,3}$/, { error: `must be 1 to ${LIMITS.pageSize}` })
    .transform(Number)
    .pipe(size),
  size,
)

export const flag = documentedAs(
  z.enum(['true', 'false'], { error: 'must be true or false' }).transform((value) => value === 'true'),
  z.boolean(),
)

/** With an offset, so that no server has to guess a time zone. */
export const instant = z.iso.datetime({ offset: true }).meta({ pattern: undefined })
