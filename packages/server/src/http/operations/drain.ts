/** The behavior of http while the server stops: pending requests finish, connections close, new work is refused. */
import type { ServerResponse } from 'node:http'

export class Drain {
  readonly #open = new Set<ServerResponse>()
  readonly #followingRuns = new Set<ServerResponse>()
  isDraining = false
  /** The API answers 503 to what still arrives on open connections. */
  isRefusing = false

  /** Responses that have not left the process yet. */
  openResponses(): number {
    return this.#open.size
  }

  /** The requests among them that do not wait for a run. */
  openRequests(): number {
    return this.#open.size - this.#followingRuns.size
  }

  /** From now on no connection is kept after its answer. */
  begin(): void {
    this.isDraining = true
    for (const res of this.#open) if (!res.headersSent) res.setHeader('Connection', 'close')
  }

  /** From now on new work is refused. */
  refuseWork(): void {
    this.isRefusing = true
  }

  /** Call it before any code that may respond. */
  enter(res: ServerResponse): void {
    this.#open.add(res)
    if (this.isDraining) res.setHeader('Connection', 'close')
  }

  /** The response waits for the end of a run. */
  followRun(res: ServerResponse): void {
    if (this.#open.has(res)) this.#followingRuns.add(res)
  }

  /** Once the response was sent, or its connection was closed. */
  leave(res: ServerResponse): void {
    this.#open.delete(res)
    this.#followingRuns.delete(res)
  }
}
