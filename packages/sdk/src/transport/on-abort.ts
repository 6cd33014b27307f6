/** Calls back when the signal aborts, or at once if it has. Returns a function that stops waiting. */
export function onAbort(signal: AbortSignal | undefined, react: () => void): () => void {
  if (signal?.aborted) react()
  else signal?.addEventListener('abort', react, { once: true })
  return () => signal?.removeEventListener('abort', react)
}
