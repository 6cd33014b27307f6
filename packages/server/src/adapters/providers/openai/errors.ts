import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { brokenOff } from '../answer/failure.ts'
import { asObject } from '../json.ts'

const statuses = new Map<unknown, number>([
  ['invalid_request_error', 400],
  ['invalid_prompt', 400],
  ['content_filter', 400],
  ['context_length_exceeded', 400],
  ['tool_use_failed', 400],
  ['authentication_error', 401],
  ['rate_limit_exceeded', 429],
  ['rate_limit_error', 429],
  ['insufficient_quota', 429],
  ['server_error', 500],
  ['internal_server_error', 500],
  ['service_unavailable', 503],
  ['overloaded_error', 503],
])

/** @param frame the frame with the error. Some services put the code beside the error. */
export function frameError(error: unknown, token: string, frame: Record<string, unknown> = {}): ProviderError {
  const { status_code, code, status, type } = asObject(error)
  const known = [status_code, code, status, frame['code'], type].map(statusOf)
  return brokenOff(
    known.find((one) => one !== undefined),
    error,
    token,
  )
}

function statusOf(code: unknown): number | undefined {
  const status = statuses.get(code) ?? Number(code ?? 0)
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}
