import { defined } from '@stet/template/defined'
import { RunError } from '../../shared/app-error.ts'

/** The kind of a provider failure, independent of the vendor. `runErrorOf` maps the kind to a run error. */
export type ProviderErrorKind =
  | 'rate_limited'
  | 'rejected'
  | 'unavailable'
  | 'timeout'
  | 'malformed'
  | 'misconfigured'
  | 'unsupported'
  /** The response contains content that stet's messages cannot represent. `contentType` names the content. */
  | 'uncarried'

type Details = Partial<Pick<ProviderError, 'status' | 'retryAfterMs' | 'providerMessage' | 'contentType'>>

export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider's name. Empty until the driver sets the name. */
  provider = ''
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  /** The provider's own text, truncated to 2,000 characters and without secrets. */
  readonly providerMessage: string | undefined
  /** The type of the unsupported content, for example `audio`. */
  readonly contentType: string | undefined

  constructor(kind: ProviderErrorKind, message: string, details: Details = {}) {
    super(message)
    this.kind = kind
    Object.assign(this, details)
  }
}

/** Maps the failure of a call of `model` to the error that users see. The message has the provider's own words. */
export function runErrorOf(failure: ProviderError, model: string): RunError {
  if (failure.kind === 'uncarried') {
    const details = { type: failure.contentType ?? 'unknown' }
    return new RunError('unsupported_provider_response_type_error', failure.message, { details, cause: failure })
  }
  const { provider, status, providerMessage } = failure
  const details = { provider, model, ...defined({ status, providerMessage }) }
  // Many clients show only the message, so the message includes the provider and the status.
  const message = providerMessage ? `${provider}: ${status ?? 'error'} ${providerMessage}` : failure.message
  if (failure.kind === 'rate_limited') {
    const retryAfter =
      failure.retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(failure.retryAfterMs / 1000))
    return new RunError('rate_limit_error', message, {
      details: { ...details, ...defined({ retryAfter }) },
      cause: failure,
    })
  }
  const code = failure.kind === 'misconfigured' ? 'ai_provider_config_error' : 'ai_run_error'
  return new RunError(code, message, { details, cause: failure })
}
