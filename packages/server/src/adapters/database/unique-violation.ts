import { isDriverAdapterError } from '@prisma/driver-adapter-utils'

/** Whether a unique constraint refused a write, by Prisma or by plain SQL. */
export function isUniqueViolation(error: unknown): boolean {
  if (isDriverAdapterError(error)) return error.cause.kind === 'UniqueConstraintViolation'
  const code = codeOf(error)
  return code === 'P2002' || code === '23505'
}

/** The code that Prisma, PostgreSQL or Node gave an error. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
