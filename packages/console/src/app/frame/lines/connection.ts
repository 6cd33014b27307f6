import { ApiError, ConnectionError } from '@stet/sdk'
import { Signal, useWatched, Watched } from '../../../ui/watched.ts'

/** Why the server cannot be used now. Screens keep showing the data loaded before. */
export interface Outage {
  kind: 'unreachable' | 'unavailable' | 'rate-limited'
  /** When the next attempt is made, in milliseconds since 1970. */
  retryAt: number
}

/** The time between attempts if the server names none, in milliseconds. */
const retryMs = 5000
const outage = new Watched<Outage | null>(null)
const end = new Signal()

export function useOutage(): Outage | null {
  return useWatched(outage)
}

/** Call this with the error of any request that is sent outside of a query or mutation. */
export function noticeOutage(error: unknown): void {
  const kind = kindOf(error)
  if (!kind) return
  const seconds = error instanceof ApiError ? Number(error.headers?.get('retry-after')) : 0
  outage.set({ kind, retryAt: Date.now() + (seconds > 0 ? seconds * 1000 : retryMs) })
}

/**
 * Call this after a failed attempt. Only an outage plans the next one by itself; other errors would end the countdown.
 */
export function planNextAttempt(): void {
  const now = outage.get()
  if (now && now.retryAt <= Date.now()) outage.set({ ...now, retryAt: Date.now() + retryMs })
}

/** Call this after any response. */
export function noticeResponse(): void {
  if (!outage.get()) return
  outage.set(null)
  end.notify()
}

/** Calls `listener` when the server answers again. Returns the function that ends this. */
export const onOutageEnd = end.watch

/** Whether a line above the screen reports the error. */
export function isOutage(error: unknown): boolean {
  return kindOf(error) !== null
}

function kindOf(error: unknown): Outage['kind'] | null {
  if (error instanceof ConnectionError) return 'unreachable'
  // Refusals of the API and of `/console` have a status.
  const { status } = Object(error)
  return status === 503 ? 'unavailable' : status === 429 ? 'rate-limited' : null
}
