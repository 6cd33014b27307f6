/** Which failures of a run say something about the prompt, and which only about the surroundings. */
import type { RunToScore } from '../ports.ts'

const ownCodes = new Set([
  'invalid_response_format_error',
  'max_step_count_exceeded_error',
  'chain_compile_error',
  'document_config_error',
])

/** Refusals of the provider that another prompt would have got, too. */
const externalStatuses = new Set([401, 403, 408, 409, 429])

export function isOwnFailure({ code, details }: NonNullable<RunToScore['error']>): boolean {
  if (ownCodes.has(code)) return true
  const status = Number(details['status'])
  return code === 'ai_run_error' && status >= 400 && status < 500 && !externalStatuses.has(status)
}

/** Failures that get one more attempt, after a pause. */
export const isRetried = (code: string): boolean => code === 'rate_limit_error' || code === 'worker_lost'

export const retryPauseMs = 30_000
