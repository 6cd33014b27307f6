const ORDERED = ['retry-after-ms', 'retry-after', 'x-ratelimit-reset']

/**
 * Wraps `fetch`. If an error response has no retry delay, adds a `retry-after-ms` header. Its value is `retryMs` and
 * doubles with each retry. A broken connection has no response, so the client's usual delay applies.
 */
export function delayFirstRetry(own: typeof globalThis.fetch | undefined, retryMs: number): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await (own ?? globalThis.fetch)(input, init)
    if (response.status < 400 || ORDERED.some((name) => response.headers.has(name))) return response
    const attempt = Number(new Headers(init?.headers).get('x-retry-count') ?? 0)
    const headers = new Headers(response.headers)
    headers.set('retry-after-ms', String(retryMs * 2 ** attempt))
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
  }
}
