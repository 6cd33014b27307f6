/**
 * The globals of every runtime with web APIs, without those of Node. Pages over plain HTTP have no other part of
 * `crypto`.
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
  atob,
  btoa,
  crypto: { getRandomValues: crypto.getRandomValues.bind(crypto) },
  console,
  queueMicrotask,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
}
