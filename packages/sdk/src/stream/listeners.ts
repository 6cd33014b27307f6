import type { StreamEventMap } from '../events.ts'
import type { OutputKind } from '../registry.ts'

type Name<O extends OutputKind> = keyof StreamEventMap<O>
interface Entry<O extends OutputKind> {
  name: Name<O>
  listener: (...args: never[]) => void
  isOnce: boolean
}

export class Listeners<O extends OutputKind> {
  #entries: Entry<O>[] = []

  add<K extends Name<O>>(name: K, listener: StreamEventMap<O>[K], isOnce = false): void {
    this.#entries = [...this.#entries, { name, listener, isOnce }]
  }

  remove(name: Name<O>, listener: Entry<O>['listener']): void {
    this.#entries = this.#entries.filter((entry) => entry.name !== name || entry.listener !== listener)
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  has(name: Name<O>): boolean {
    return this.#entries.some((entry) => entry.name === name)
  }

  /** An exception in a listener propagates to the caller. */
  emit<K extends Name<O>>(name: K, ...args: Parameters<StreamEventMap<O>[K]>): void {
    for (const entry of this.#entries) {
      if (entry.name !== name) continue
      if (entry.isOnce) this.#entries = this.#entries.filter((other) => other !== entry)
      // add() stores each listener under its own event name, so the argument types match.
      const call = entry.listener as (...args: Parameters<StreamEventMap<O>[K]>) => void
      call(...args)
    }
  }
}
