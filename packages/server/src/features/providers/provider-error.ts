/** The kind of a provider failure, independent of the vendor. `call-model.ts` maps the kind to a run error. */
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
