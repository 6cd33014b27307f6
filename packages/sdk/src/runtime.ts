export interface Runtime {
  /** Rejects with the signal's reason if the signal aborts first. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  random: () => number
  /** Epoch milliseconds. */
  now: () => number
}

/** Returns a version 4 UUID with one fixed variant. `crypto.randomUUID` is missing in pages served over plain HTTP. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(36))
  return '00000000-0000-4000-8000-000000000000'.replace(/0/g, (_, at: number) => ((bytes[at] ?? 0) & 15).toString(16))
}

export const systemRuntime: Runtime = {
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        unfollow()
        resolve()
      }, ms)
      const unfollow = onAbort(signal, () => {
        clearTimeout(timer)
        reject(signal?.reason)
      })
    })
  },
  random: Math.random,
  now: () => Date.now(),
}

/**
 * Calls `react` when the signal aborts, or immediately if the signal is already aborted. Returns a function that
 * removes the listener.
 */
export function onAbort(signal: AbortSignal | undefined, react: () => void): () => void {
  if (signal?.aborted) react()
  else signal?.addEventListener('abort', react, { once: true })
  return () => signal?.removeEventListener('abort', react)
}
