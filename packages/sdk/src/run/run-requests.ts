import type { Outcome } from '../api-promise.ts'
import type { OperationName } from '../operations.ts'
import type { RequestOptions } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { Api } from '../transport/api.ts'
import type { RunResult } from '../types.ts'

const TIMEOUT_MS = 600_000

/** The requests of one call that return whole runs, one at a time. */
export class RunRequests {
  readonly api: Api
  /** Whether a run of this call may be active: a request was sent, and neither answered nor refused. */
  mayRun = false
  /** Whether an attempt was accepted: its run continues, even if later attempts fail. */
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
    // An aborted request is not sent.
    if (signal?.aborted) return send()
    this.mayRun = true
    let isRefused = false
    try {
      const response = await send()
      // A repeated conflict means that an earlier attempt is still running; a gateway error says nothing about the run.
      isRefused = !response.ok && ![409, 502, 504].includes(response.status)
      return response
    } finally {
      this.#hasBegun ||= !isRefused
      this.mayRun = this.#hasBegun
    }
  }
}
