/** Failures of OpenAI-compatible services, as the client reports them or as frames tell them. */
import { APIConnectionError, APIError } from 'openai'
import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { brokenOff, errorText, type FailureContext, statusFailure } from '../answer/failure.ts'
import { transportError } from '../transport/transport-error.ts'

export function openaiError(error: unknown, context: FailureContext): ProviderError {
  // Our transport's own errors arrive wrapped: the client knows only that a connection failed.
  if (error instanceof APIConnectionError) return transportError(error.cause ?? error)
  if (!(error instanceof APIError) || error.status === undefined) return transportError(error)
  const status: number = error.status
  const text = errorText(error.error) ?? error.message
  return statusFailure({ status, headers: error.headers ?? new Headers(), text }, context)
}

/** An error that arrives as a frame in the middle of a stream. */
export function frameError(error: unknown, token: string): ProviderError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? Number(error.code) : Number.NaN
  return brokenOff(Number.isInteger(code) && code >= 400 && code <= 599 ? code : undefined, error, token)
}
