/** Tracks open responses, so that a stopping server can wait for them. */
import type { ServerResponse } from 'node:http'

export class Drain {
  readonly #open = new Set<ServerResponse>()
  readonly #followingRuns = new Set<ServerResponse>()
  isDraining = false
  /** True once the API refuses further requests with 503. */
  isRefusing = false

  openResponses(): number {
    return this.#open.size
  }

  /** Counts the open responses that do not wait for a run. */
  openRequests(): number {
    return this.#open.size - this.#followingRuns.size
  }

  /** From now on, every response whose headers are not yet sent closes its connection. */
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
