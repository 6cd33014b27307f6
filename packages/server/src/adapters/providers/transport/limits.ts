/** Time and size limits of provider calls. */
export interface ProviderLimits {
  /** Name resolution, TCP and TLS together. */
  connectMs: number
  /** Until the head of a streamed response. */
  firstByteMs: number
  /** Until the head of a plain response, which arrives only when complete; also the silence within its body. */
  plainMs: number
  /** Between two reads of a streamed response. */
  silenceMs: number
  headBytes: number
  plainBytes: number
  /** A frame may contain a whole generated image. */
  frameBytes: number
  /** Pause before the first retry. It doubles with each further one. */
  backoffMs: number
}

export const providerLimits: ProviderLimits = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  plainMs: 600_000,
  silenceMs: 120_000,
  headBytes: 65_536,
  plainBytes: 33_554_432,
  frameBytes: 16_777_216,
  backoffMs: 500,
}
