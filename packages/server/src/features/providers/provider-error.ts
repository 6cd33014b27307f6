/** A provider failure, independent of the vendor. `call-model.ts` maps it to a run error. */
export type ProviderErrorKind =
  | 'rate_limited'
  | 'rejected'
  | 'unavailable'
  | 'timeout'
  | 'malformed'
  | 'misconfigured'
  | 'unsupported'
  /** The response contains content that stet's messages cannot represent. `contentType` names it. */
  | 'uncarried'

export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider key's name. The driver sets it, because response readers do not have it. */
  provider = ''
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  /** The provider's own text, cut to 2,000 characters and without secrets. */
  readonly providerMessage: string | undefined
  /** The provider's name for the unsupported content, for example `audio`. */
  readonly contentType: string | undefined

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: {
      status?: number
      retryAfterMs?: number
      providerMessage?: string
      contentType?: string
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
    this.providerMessage = options.providerMessage
    this.contentType = options.contentType
  }
}
