import { useSyncExternalStore } from 'react'

/** Calls its watchers on demand. */
export class Signal {
  readonly #watchers = new Set<() => void>()

  /** Returns the function that ends the watching. */
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  readonly notify = (): void => {
    for (const watcher of this.#watchers) watcher()
  }
}

/** State of the page that belongs to no component. */
export class Watched<Value> extends Signal {
  #value: Value

  constructor(value: Value) {
    super()
    this.#value = value
  }

  readonly get = (): Value => this.#value

  readonly set = (value: Value): void => {
    this.#value = value
    this.notify()
  }
}

export function useWatched<Value>({ watch, get }: Watched<Value>): Value {
  return useSyncExternalStore(watch, get)
}

/** Calls `listener` for events until the returned function is called. */
export function listen<Name extends keyof WindowEventMap>(
  target: EventTarget,
  name: Name,
  listener: (event: WindowEventMap[Name]) => void,
  options?: AddEventListenerOptions,
): () => void {
  target.addEventListener(name, listener as EventListener, options)
  return () => target.removeEventListener(name, listener as EventListener, options)
}

/** Whether a media query matches now, for example `(prefers-color-scheme: dark)`. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => window.matchMedia(query).matches,
  )
}
