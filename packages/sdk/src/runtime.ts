import { onAbort } from './transport/on-abort.ts'

/** Time and chance; tests bring their own. */
export interface Runtime {
  /** Rejects with the signal's reason when it is aborted first. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  random: () => number
  /** Epoch milliseconds. */
  now: () => number
}

/** That of the machine. */
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
