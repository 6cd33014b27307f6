/** Finds failures inside answers. Services report them in many forms, often without an `error` object. */
import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { asNumber, asObject, asText, isBlank, isObject, type Json } from '../json.ts'
import { keys } from '../request/settings.ts'
import { brokenOff } from './failure.ts'

const codes: readonly (readonly [number, readonly string[]])[] = [
  [400, ['invalid_request_error', 'invalid_prompt', 'content_filter', 'context_length_exceeded', 'tool_use_failed']],
  [401, ['authentication_error']],
  [402, ['billing_error']],
  [403, ['permission_error']],
  [404, ['not_found_error']],
  [413, ['request_too_large']],
  [429, ['rate_limit_exceeded', 'rate_limit_error', 'insufficient_quota']],
  [500, ['server_error', 'internal_server_error', 'api_error']],
  [503, ['service_unavailable']],
  [504, ['timeout_error']],
  [529, ['overloaded_error']],
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

/** Returns the error that any frame may contain beside an answer. */
export function errorIn(frame: Json): unknown {
  const { error, base_resp } = frame
  if (isFailure(error)) return error
  // MiniMax reports its own status with each answer.
  return isBlank(asObject(base_resp)['status_code']) ? undefined : base_resp
}

/** False for an error without a code and words, and for one that reports success. Services send both with answers. */
export function isFailure(error: unknown): boolean {
  if (!isObject(error)) return !isBlank(error)
  return !isSuccess(error) && !Object.values(error).every(isBlank)
}

/** Some services send code 0 and a word for success with each frame. */
function isSuccess({ code, message }: Json): boolean {
  return isBlank(code) && /^(ok|success)\W*$/i.test(asText(message))
}

const errorKeys = keys('message Message msg detail errors error_msg error_message error_code errorCode errorMessage')

/** Returns the error of a frame that is no part of an answer. Frames of unknown types are not errors. */
export function strayError(frame: Json): Json | undefined {
  const { type, object } = frame
  if (object === 'error') return frame
  if (isSuccess(frame) || frame['code'] === 200) return undefined
  if (typeof type === 'string' && !/error/i.test(type)) return undefined
  const isFailure = type !== undefined || Object.keys(frame).some((key) => errorKeys.has(key))
  return isFailure ? frame : undefined
}
