/** Time and size limits of provider calls. */
export interface ProviderLimits {
  /** Name resolution, TCP and TLS together. */
  connectMs: number
  /** Until the head of a streamed answer. */
  firstByteMs: number
  /** Until the head of a plain answer, which sends nothing before it is whole; also the silence within it. */
  plainMs: number
  /** Between two reads of a streamed answer. */
  silenceMs: number
  headBytes: number
  plainBytes: number
  /** A frame may hold a whole generated image. */
  frameBytes: number
  /** Pause before the first retry; each further one waits twice as long. */
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
