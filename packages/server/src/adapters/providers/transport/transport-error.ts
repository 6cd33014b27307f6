/** Errors of undici and the system as ProviderError. */
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { AddressRefused } from './address-guard.ts'

const connectFailures = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Our own errors pass unchanged. `cause` is omitted where its text would look like a timeout of the client itself. */
export function transportError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof AddressRefused) return new ProviderError('misconfigured', error.message)
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT')
    return new ProviderError('timeout', 'The provider did not begin to answer in time')
  if (code === 'UND_ERR_BODY_TIMEOUT')
    return new ProviderError('timeout', 'The provider fell silent in the middle of its answer')
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new ProviderError('malformed', 'The head of the answer is too large')
  if (code.startsWith('HPE_') || code === 'ERR_ENCODING_INVALID_ENCODED_DATA' || error instanceof SyntaxError) {
    return new ProviderError('malformed', 'The provider sent an answer that cannot be read')
  }
  if (code.startsWith('ERR_TLS') || code.includes('CERT')) {
    return new ProviderError('unavailable', 'The provider cannot prove who it is: its certificate is not valid')
  }
  const message = connectFailures.has(code)
    ? 'The provider cannot be reached'
    : 'The connection to the provider broke off'
  return new ProviderError('unavailable', message)
}

// For a name with several addresses, Node throws an AggregateError whose code is that of the first failure.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause === undefined ? '' : codeOf(error.cause)
}
