import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { brokenOff } from '../answer/failure.ts'
import { asNumber, asObject, asText, type Json } from '../json.ts'

const codes: readonly (readonly [number, readonly string[]])[] = [
  [400, ['invalid_request_error', 'invalid_prompt', 'content_filter', 'context_length_exceeded', 'tool_use_failed']],
  [401, ['authentication_error']],
  [429, ['rate_limit_exceeded', 'rate_limit_error', 'insufficient_quota']],
  [500, ['server_error', 'internal_server_error']],
  [503, ['service_unavailable', 'overloaded_error']],
]

/** @param frame the frame with the error. Some services put the code beside the error. */
export function frameError(error: unknown, token: string, frame: Json = {}): ProviderError {
  const { status_code, code, status, type } = asObject(error)
  const known = [status_code, code, status, frame['code'], type].map(statusOf)
  return brokenOff(
    known.find((one) => one !== undefined),
    error,
    token,
  )
}

function statusOf(code: unknown): number | undefined {
  const status = codes.find(([, names]) => names.includes(asText(code)))?.[0] ?? asNumber(code) ?? Number(asText(code))
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}
