export interface Place<T> {
  /** Undefined in the tail, which waits for its value. */
  next: Place<T> | undefined
  value: T | undefined
}

async function ended(): Promise<IteratorReturnResult<undefined>> {
  return { done: true, value: undefined }
}

/**
 * A growing list with independent readers. The list references only its tail, so entries that all readers have passed
 * can be garbage-collected.
 */
export class EventLog<T> {
  tail: Place<T> = { next: undefined, value: undefined }
  #waiting: (() => void)[] = []
  #end: (() => Promise<IteratorReturnResult<undefined>>) | undefined

  append(value: T): void {
    const place = this.tail
    this.tail = { next: undefined, value: undefined }
    place.value = value
    place.next = this.tail
    this.#wake()
  }

  /** Ends the list. After the last value, every read returns the result of `answer`. */
  end(answer: () => Promise<IteratorReturnResult<undefined>> = ended): void {
    this.#end = answer
    this.#wake()
  }

  /** Creates a reader, by default for values that are appended from now on. Returning early ends only this reader. */
  read(from = this.tail): AsyncIterableIterator<T> {
    let at: Place<T> | undefined = from
    const leave = (): Promise<IteratorResult<T>> => {
      at = undefined
      this.#wake()
      return ended()
    }
    // An available value costs one promise. Concurrent calls receive one value each, in order.
    const next = (): Promise<IteratorResult<T>> => {
      if (!at) return ended()
      const { next: following, value } = at
      if (following) {
        at = following
        return Promise.resolve({ done: false, value: value as T })
      }
      return this.#end?.() ?? new Promise<void>((resolve) => this.#waiting.push(resolve)).then(next)
    }
    return {
      next,
      return: leave,
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  #wake(): void {
    if (this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake()
  }
}
