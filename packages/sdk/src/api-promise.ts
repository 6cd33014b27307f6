import { ConfigurationError } from './errors.ts'
import { type RateLimitInfo, readRateLimit } from './transport/rate-limit.ts'

/** A parsed result and its response headers. */
export interface Outcome<T> {
  data: T
  response: Response
}

/**
 * The promise of a call. Await it for the parsed body, or call `withResponse()` for the HTTP response too.
 *
 * @example const { data, requestId, rateLimit } = await stet.prompts.list().withResponse()
 */
export class ApiPromise<T> extends Promise<T> {
  readonly #outcome: Promise<Outcome<T>>
  readonly #isStreamed: boolean

  /** Made by calls. `isStreamed`: the response body was consumed as events. */
  constructor(outcome: Promise<Outcome<T>>, isStreamed = false) {
    super((resolve, reject) => {
      outcome.then(({ data }) => resolve(data), reject)
    })
    this.#outcome = outcome
    this.#isStreamed = isStreamed
  }

  // then() and catch() return plain promises, because a derived value has no response.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  /**
   * The answer as a new response with a readable body.
   *
   * @example const etag = (await stet.prompts.get('support/reply').asResponse()).headers.get('etag')
   */
  async asResponse(): Promise<Response> {
    // The caller handles the derived promise, so this one must not count as unhandled.
    this.catch(() => {})
    if (this.#isStreamed) {
      throw new ConfigurationError('A streamed run: use prompts.stream(…).withResponse(), or stream: false')
    }
    return (await this.#outcome).response.clone()
  }

  /**
   * The parsed answer with its response head, request id and rate limit state.
   *
   * @example const { data, rateLimit } = await stet.prompts.list().withResponse()
   */
  async withResponse(): Promise<{
    data: T
    response: Response
    requestId: string | null
    rateLimit: RateLimitInfo | null
  }> {
    this.catch(() => {})
    const { data, response } = await this.#outcome
    const { headers } = response
    return {
      data,
      response: this.#isStreamed ? response : response.clone(),
      requestId: headers.get('x-request-id'),
      rateLimit: readRateLimit(headers, Date.now()),
    }
  }
}
