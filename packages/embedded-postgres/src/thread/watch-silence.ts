export interface SilenceLimits {
  refuseAfterMs: number
  endAfterMs: number
}

// A vacuum or checkpoint is one statement. On a slow disk with a large table it may take minutes.
const LIMITS: SilenceLimits = { refuseAfterMs: 10_000, endAfterMs: 300_000 }
const TICKS = 10

export interface SilenceWatch {
  heard(): void
  isSilent(): boolean
  stop(): void
}

interface Watched {
  isAsked(): boolean
  /** Sends a request whose response does not wait for the session. */
  ping(): void
  refuse(): void
  end(silentMs: number): void
}

/** Counts ticks instead of time, because a busy calling thread cannot read responses. */
export function watchSilence(watched: Watched, limits = LIMITS): SilenceWatch {
  const tickMs = limits.refuseAfterMs / TICKS
  let silentTicks = 0
  const timer = setInterval(() => {
    if (!watched.isAsked()) return
    silentTicks += 1
    if (silentTicks === 1) watched.ping()
    if (silentTicks * tickMs >= limits.endAfterMs) watched.end(silentTicks * tickMs)
    else if (silentTicks >= TICKS) watched.refuse()
  }, tickMs)
  timer.unref()
  return {
    heard: () => {
      silentTicks = 0
    },
    isSilent: () => silentTicks >= TICKS,
    stop: () => clearInterval(timer),
  }
}
