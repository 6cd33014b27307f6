/** Errors of the Messages API in the middle of a stream. */
import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { brokenOff } from '../answer/failure.ts'
import { asObject, asText } from '../answer/json.ts'

/** Statuses for error types, because frames have no status. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

export function anthropicFrameError(error: unknown, token: string): ProviderError {
  const type = asText(asObject(error)['type'])
  return brokenOff(Object.hasOwn(statuses, type) ? statuses[type] : undefined, error, token)
}
