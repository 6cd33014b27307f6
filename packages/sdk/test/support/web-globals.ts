/**
 * What every runtime with web APIs has, and nothing of Node's: a bundle that runs with these alone runs anywhere. Pages over
 * plain http have no more of `crypto` than this.
 */
export const webGlobals = {
  fetch,
  Headers,
  Request,
  Response,
  URL,
  URLSearchParams,
  AbortController,
  AbortSignal,
  ReadableStream,
  TextEncoder,
  TextDecoder,
  crypto: { getRandomValues: crypto.getRandomValues.bind(crypto) },
  console,
  queueMicrotask,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
}
