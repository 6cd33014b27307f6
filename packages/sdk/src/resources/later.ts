import { PagePromise } from './page.ts'

type Loaded<T> = Record<keyof T, (...input: unknown[]) => PagePromise<unknown>>

/** Stands for a resource whose code loads with its first call, so that programs without it do not pay for it. */
export function later<T extends object>(load: () => Promise<T>): T {
  return new Proxy({} as T, {
    get: (_target, name) =>
      // A thenable would be called by `await`.
      name === 'then'
        ? undefined
        : (...input: unknown[]) =>
            // Also for methods that return no pages: then nothing iterates it.
            new PagePromise(load().then((loaded) => (loaded as Loaded<T>)[name as keyof T](...input).withResponse())),
  })
}
