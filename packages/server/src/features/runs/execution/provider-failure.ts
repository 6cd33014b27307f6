/** What a provider's failure means for a run: the one place where vendor-neutral failures become run codes. */
import { RunError } from '../../../shared/app-error.ts'
import type { ResolvedProvider } from '../../providers/model-driver.ts'
import type { ProviderError } from '../../providers/provider-error.ts'
import type { ProviderEvent } from '../run-event.ts'

export function toRunError(failure: ProviderError, provider: ResolvedProvider, model: string): RunError {
  if (failure.kind === 'uncarried') {
    const details = { type: failure.contentType ?? 'unknown' }
    return new RunError('unsupported_provider_response_type_error', failure.message, { details, cause: failure })
  }
  const details = {
    provider: provider.name,
    model,
    ...defined({ status: failure.status, providerMessage: failure.providerMessage }),
  }
  if (failure.kind === 'rate_limited') {
    const retryAfter =
      failure.retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(failure.retryAfterMs / 1000))
    return new RunError('rate_limit_error', failure.message, {
      details: { ...details, ...defined({ retryAfter }) },
      cause: failure,
    })
  }
  const code = failure.kind === 'misconfigured' ? 'ai_provider_config_error' : 'ai_run_error'
  return new RunError(code, failure.message, { details, cause: failure })
}

export function failureEvent(failure: ProviderError): ProviderEvent {
  const { message, status } = failure
  return { type: 'error', error: status === undefined ? { message } : { message, status } }
}

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
