/**
 * Calls `react` when the signal aborts, or immediately if the signal is already aborted. Returns a function that
 * removes the listener.
 */
export function onAbort(signal: AbortSignal | undefined, react: () => void): () => void {
  if (signal?.aborted) react()
  else signal?.addEventListener('abort', react, { once: true })
  return () => signal?.removeEventListener('abort', react)
}
