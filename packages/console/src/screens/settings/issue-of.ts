import { ApiError } from '@stet/sdk'

/** Returns what the server says about one field of the request, from `details.issues`, or undefined. */
export function issueOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { issues } = (error.details ?? {}) as { issues?: { path?: unknown[]; message?: string }[] }
  return issues?.find(({ path }) => path?.at(-1) === field)?.message
}
