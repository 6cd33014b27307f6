import type { Outcome } from '../api-promise.ts'
import type { OperationName } from '../operations.ts'
import type { RequestOptions } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { Api } from '../transport/api.ts'
import type { RunResult } from '../types.ts'

const TIMEOUT_MS = 600_000

export class RunRequests {
  readonly api: Api
  /** True while a run of this call may be active: a request was sent and its response is pending or unclear. */
  mayRun = false
  /** True once the server accepted an attempt. Its run continues even if later attempts fail. */
  #hasBegun = false

  constructor({ settings }: Api) {
    const { fetch } = settings
    this.api = new Api({ ...settings, fetch: (input, init) => this.#follow(() => fetch(input, init), init?.signal) })
  }

  async answer<O extends OutputKind>(
    name: OperationName,
    fields: object,
    options: RequestOptions,
  ): Promise<Outcome<RunResult<O>>> {
    const outcome = await this.api.answer<RunResult<O>>(name, { ...fields, stream: false }, options, TIMEOUT_MS)
    this.mayRun = this.#hasBegun = false
    return outcome
  }

  async #follow(send: () => Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> {
    // Aborted requests are never sent, so no run starts.
    if (signal?.aborted) return send()
    this.mayRun = true
    let isRefused = false
    try {
      const response = await send()
      // A repeated conflict means that an earlier attempt is still running. A gateway error leaves the run's state
      // unclear.
      isRefused = !response.ok && ![409, 502, 504].includes(response.status)
      return response
    } finally {
      this.#hasBegun ||= !isRefused
      this.mayRun = this.#hasBegun
    }
  }
}
