const ORDERED = ['retry-after-ms', 'retry-after', 'x-ratelimit-reset']

/**
 * A `fetch` that adds a wait to refusals without one: `retryMs`, doubled for each attempt. A broken connection has no
 * head for it and is retried after the client's usual wait.
 */
export function delayFirstRetry(own: typeof globalThis.fetch | undefined, retryMs: number): typeof globalThis.fetch {
  return async (input, init) => {
    // Looked up late, so that a `fetch` replaced after construction is used.
    const response = await (own ?? globalThis.fetch)(input, init)
    if (response.status < 400 || ORDERED.some((name) => response.headers.has(name))) return response
    const attempt = Number(new Headers(init?.headers).get('x-retry-count') ?? 0)
    const headers = new Headers(response.headers)
    headers.set('retry-after-ms', String(retryMs * 2 ** attempt))
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
  }
}
