import { ConfigurationError } from './errors.ts'
import { type RateLimitInfo, readRateLimit } from './rate-limit.ts'

export interface Outcome<T> {
  data: T
  response: Response
}

/**
 * The promise of a call. Await the promise to get the parsed body, or call `withResponse()` to get the HTTP response
 * too.
 *
 * @example const { data, requestId, rateLimit } = await stet.prompts.list().withResponse()
 */
export class ApiPromise<T> extends Promise<T> {
  readonly #outcome: Promise<Outcome<T>>
  readonly #isStreamed: boolean

  /** @param isStreamed true if the response body was already read as events. */
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
   * Resolves to a copy of the response whose body is still unread. Rejects with ConfigurationError for a streamed run.
   *
   * @example const etag = (await stet.prompts.get('support/reply').asResponse()).headers.get('etag')
   */
  async asResponse(): Promise<Response> {
    // The caller handles the returned promise, so mark this promise as handled.
    this.catch(() => {})
    if (this.#isStreamed) {
      throw new ConfigurationError('A streamed run: use prompts.stream(…).withResponse(), or stream: false')
    }
    return (await this.#outcome).response.clone()
  }

  /**
   * Resolves to the parsed body with its response, request id and rate limit.
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
