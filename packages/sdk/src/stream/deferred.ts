/** A promise with its `resolve` and `reject`. Its rejection never counts as unhandled. */
export interface Deferred<T> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

/** Promise.withResolvers, which Node 20 does not have, with a quiet promise. */
export function deferred<T>(): Deferred<T> {
  // the executor runs synchronously, so that all three are set when this returns
  const made: Partial<Deferred<T>> = {}
  const promise = quiet(new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject })))
  return Object.assign(made, { promise }) as Deferred<T>
}

/** Marks a promise as handled, so that an unused view cannot end the process. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
