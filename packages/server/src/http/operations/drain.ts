/** Tracks responses while the server stops. */
import type { ServerResponse } from 'node:http'

export class Drain {
  readonly #open = new Set<ServerResponse>()
  readonly #followingRuns = new Set<ServerResponse>()
  isDraining = false
  /** True while the API rejects further requests on open connections with 503. */
  isRefusing = false

  openResponses(): number {
    return this.#open.size
  }

  /** Counts open responses that do not wait for a run. */
  openRequests(): number {
    return this.#open.size - this.#followingRuns.size
  }

  /** From now on, connections close after their response. */
  begin(): void {
    this.isDraining = true
    for (const res of this.#open) if (!res.headersSent) res.setHeader('Connection', 'close')
  }

  refuseWork(): void {
    this.isRefusing = true
  }

  /** Call before any code that may respond. */
  enter(res: ServerResponse): void {
    this.#open.add(res)
    if (this.isDraining) res.setHeader('Connection', 'close')
  }

  followRun(res: ServerResponse): void {
    if (this.#open.has(res)) this.#followingRuns.add(res)
  }

  /** Call when the response was sent or its connection closed. */
  leave(res: ServerResponse): void {
    this.#open.delete(res)
    this.#followingRuns.delete(res)
  }
}
