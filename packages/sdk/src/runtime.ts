import { onAbort } from './transport/on-abort.ts'

/** Clock and randomness. Tests replace them. */
export interface Runtime {
  /** Rejects with the signal's reason if it is aborted first. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  random: () => number
  /** Epoch milliseconds. */
  now: () => number
}

/** A version 4 UUID. Pages over plain http have no `crypto.randomUUID`. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  // the bits of version and variant: RFC 9562, 5.4
  const marked = bytes.map((byte, i) => (i === 6 ? (byte & 15) | 64 : i === 8 ? (byte & 63) | 128 : byte))
  return hexOf(marked).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Bytes in lower-case hex. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The clock of the machine. */
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
