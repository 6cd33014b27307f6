import { deferred, quiet } from './deferred.ts'

interface Node<T> {
  value: T
  next: Promise<Node<T> | undefined>
}

/**
 * A list that grows while many readers walk it, each at its own pace. Nodes are linked, so that without a kept head the
 * events that every reader has passed are garbage.
 */
export class EventLog<T> {
  #tail = deferred<Node<T> | undefined>()
  readonly #first: Promise<Node<T> | undefined> | undefined

  /** @param keepsAll whether readers that come late start at the first event instead of the next one */
  constructor(keepsAll: boolean) {
    this.#first = keepsAll ? this.#tail.promise : undefined
  }

  append(value: T): void {
    const tail = this.#tail
    this.#tail = deferred()
    tail.resolve({ value, next: this.#tail.promise })
  }

  /** No more events: readers end after the last one. */
  end(): void {
    this.#tail.resolve(undefined)
  }

  /** Readers reject after the last event. */
  fail(error: unknown): void {
    this.#tail.reject(error)
  }

  /** A new reader. Leaving it early ends this reader alone. */
  read(): AsyncIterableIterator<T> {
    let at = this.#first ?? this.#tail.promise
    const leave = async (): Promise<IteratorResult<T>> => {
      at = Promise.resolve(undefined)
      return { done: true, value: undefined }
    }
    const reader: AsyncIterableIterator<T> = {
      async next() {
        const here = at
        // set before waiting, so that calls which do not wait for each other get one event each
        at = quiet(here.then((node) => node?.next))
        const node = await here
        return node ? { done: false, value: node.value } : leave()
      },
      return: leave,
      [Symbol.asyncIterator]: () => reader,
    }
    return reader
  }
}
