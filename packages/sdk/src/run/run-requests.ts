import type { Outcome } from '../api-promise.ts'
import type { OperationName } from '../operations.ts'
import type { RequestOptions } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { Api } from '../transport/api.ts'
import type { RunResult } from '../types.ts'

const TIMEOUT_MS = 600_000

export class RunRequests {
  readonly api: Api
  /** True while a run of this call may be active: a request was sent, and its response is pending or unclear. */
  mayRun = false
  /** True once an attempt may have started a run. The run stays active even if a later attempt is refused. */
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
    // `fetch` does not send an aborted request, so no run starts.
    if (signal?.aborted) return send()
    this.mayRun = true
    let isRefused = false
    try {
      const response = await send()
      // After a 409, an earlier attempt of this call may still be running. After 502 and 504, the run may have started.
      isRefused = !response.ok && ![409, 502, 504].includes(response.status)
      return response
    } finally {
      this.#hasBegun ||= !isRefused
      this.mayRun = this.#hasBegun
    }
  }
}
