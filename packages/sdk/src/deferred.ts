/** A promise with its `resolve` and `reject`. Node does not report a rejection of this promise as unhandled. */
export interface Deferred<T> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

/** Replaces Promise.withResolvers, which Node 20 lacks. */
export function deferred<T>(): Deferred<T> {
  // The executor runs synchronously, so `resolve` and `reject` are set before the function returns.
  const made: Partial<Deferred<T>> = {}
  const promise = quiet(new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject })))
  return Object.assign(made, { promise }) as Deferred<T>
}

/** Marks a promise as handled, so that its rejection cannot end the process if the promise is unused. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
