export interface Runtime {
  /** Rejects with the signal's reason if the signal aborts first. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  random: () => number
  /** Epoch milliseconds. */
  now: () => number
}

/** Returns a version 4 UUID. `crypto.randomUUID` is missing in pages served over plain HTTP. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  // Set the version and variant bits (RFC 9562, section 5.4).
  const marked = bytes.map((byte, i) => (i === 6 ? (byte & 15) | 64 : i === 8 ? (byte & 63) | 128 : byte))
  return hexOf(marked).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
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
