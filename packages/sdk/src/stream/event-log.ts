interface Node<T> {
  /** Undefined in the last node, which waits for its value. */
  next: Node<T> | undefined
  value: T | undefined
}

/**
 * A list that grows while many readers walk it, each at its own pace. Nodes are linked, so that without a kept head the
 * events that every reader has passed are garbage.
 */
export class EventLog<T> {
  #tail: Node<T> = { next: undefined, value: undefined }
  readonly #first: Node<T> | undefined
  #waiting: (() => void)[] = []
  #end: (() => IteratorResult<T>) | undefined

  /** @param keepsAll whether readers that come late start at the first event instead of the next one */
  constructor(keepsAll: boolean) {
    this.#first = keepsAll ? this.#tail : undefined
  }

  append(value: T): void {
    const node = this.#tail
    this.#tail = { next: undefined, value: undefined }
    node.value = value
    node.next = this.#tail
    this.#wake()
  }

  /** No more events: readers end after the last one. */
  end(): void {
    this.#endWith(() => ({ done: true, value: undefined }))
  }

  /** Readers reject after the last event. */
  fail(error: unknown): void {
    this.#endWith(() => {
      throw error
    })
  }

  /** A new reader. Leaving it early ends this reader alone. */
  read(): AsyncIterableIterator<T> {
    let at: Node<T> | undefined = this.#first ?? this.#tail
    const leave = async (): Promise<IteratorResult<T>> => {
      at = undefined
      this.#wake()
      return { done: true, value: undefined }
    }
    const reader: AsyncIterableIterator<T> = {
      next: async () => {
        // calls that do not wait for each other get one event each, in their order
        while (at && !at.next && !this.#end) await new Promise<void>((resolve) => this.#waiting.push(resolve))
        if (!at) return leave()
        const { next, value } = at
        if (!next) return this.#end?.() ?? leave()
        at = next
        // a node with a next one has a value
        return { done: false, value: value as T }
      },
      return: leave,
      [Symbol.asyncIterator]: () => reader,
    }
    return reader
  }

  #endWith(end: () => IteratorResult<T>): void {
    this.#end = end
    this.#wake()
  }

  #wake(): void {
    const woken = this.#waiting
    if (woken.length === 0) return
    this.#waiting = []
    for (const wake of woken) wake()
  }
}
