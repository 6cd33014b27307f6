/** A promise with its `resolve` and `reject`. Its rejection never counts as unhandled. */
export interface Deferred<T> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

/** Like Promise.withResolvers, which Node 20 lacks, with a quiet promise. */
export function deferred<T>(): Deferred<T> {
  // The executor runs synchronously, so all three are set on return.
  const made: Partial<Deferred<T>> = {}
  const promise = quiet(new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject })))
  return Object.assign(made, { promise }) as Deferred<T>
}

/** Marks a promise as handled, so that an unused view cannot end the process. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
