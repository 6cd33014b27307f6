/** Calls back when the signal aborts, at once if it has; returns what ends the waiting. */
export function onAbort(signal: AbortSignal | undefined, react: () => void): () => void {
  if (signal?.aborted) react()
  else signal?.addEventListener('abort', react, { once: true })
  return () => signal?.removeEventListener('abort', react)
}
