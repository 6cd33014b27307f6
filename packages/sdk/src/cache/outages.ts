import { ApiError, ConnectionError, type StetError } from '../errors.ts'

const OUTAGE_MS = 5000
const PROBE_PAUSE_MS = 1000
const MAX_OUTAGES = 500

export interface Outage {
  error: StetError
  /** Epoch milliseconds. Until then, calls with a fallback do not wait for the server. */
  until: number
  nextProbe: number
}

/** The outages that a client and its derived clients share, by server address or by prompt URL. */
export class Outages {
  readonly #known = new Map<string, Outage>()

  /** Returns the current outage of the server or the prompt. */
  find(baseUrl: string, url: string, now: number): Outage | undefined {
    return [baseUrl, url].map((place) => this.#known.get(place)).find((outage) => outage && now < outage.until)
  }

  /** A 500 may concern only this prompt. Any other failure concerns the server. */
  begin(baseUrl: string, url: string, error: StetError, now: number): void {
    if (this.#known.size >= MAX_OUTAGES) this.#known.clear()
    const place = error instanceof ApiError && error.status === 500 ? url : baseUrl
    this.#known.set(place, { error, ...pauses(now) })
  }

  end(baseUrl: string, url: string): void {
    for (const place of [baseUrl, url]) this.#known.delete(place)
  }
}

/** Returns true if a probe may start now, and then reserves the next `ms` milliseconds for this probe. */
export function reserveProbe(outage: Outage, now: number, ms: number): boolean {
  if (now < outage.nextProbe) return false
  // No flag says that a probe is under way, because some runtimes drop background work without settling its promise.
  outage.until = Math.max(outage.until, now + ms)
  outage.nextProbe = now + Math.max(ms, PROBE_PAUSE_MS)
  return true
}

export function pauses(now: number): Pick<Outage, 'until' | 'nextProbe'> {
  return { until: now + OUTAGE_MS, nextProbe: now + PROBE_PAUSE_MS }
}

/** True for the failures that a fallback may hide. Others, such as 404, must reach the caller. */
export function isOutage(error: StetError): boolean {
  return error instanceof ApiError ? error.status === 429 || error.status >= 500 : error instanceof ConnectionError
}
