/** A bounded slot between a socket and a generator: whatever arrived since the last look is taken at once. */
export interface Mailbox<T> {
  /** @param items the mailbox's own from now on. @param weight their bytes; above the bound `onFull` until they are taken. */
  put(items: T[], weight: number): void
  end(): void
  fail(error: Error): void
  /** Resolves with all waiting items; undefined after the end. Items before a failure are delivered first. */
  take(): Promise<T[] | undefined>
}

export function mailbox<T>(boundBytes: number, valve: { onFull(): void; onEmpty(): void }): Mailbox<T> {
  let slot: T[] = []
  let weightBytes = 0
  let isFull = false
  let end: { error?: Error } | undefined
  let wake: (() => void) | undefined

  const notify = () => {
    const waiting = wake
    wake = undefined
    waiting?.()
  }
  const close = (reason: { error?: Error }) => {
    end ??= reason
    notify()
  }
  return {
    put(items, weight) {
      if (end || items.length === 0) return
      if (slot.length === 0) slot = items
      else slot.push(...items)
      weightBytes += weight
      if (!isFull && weightBytes > boundBytes) {
        isFull = true
        valve.onFull()
      }
      notify()
    },
    end: () => close({}),
    fail: (error) => close({ error }),
    async take() {
      while (slot.length === 0 && !end) await new Promise<void>((resolve) => (wake = resolve))
      if (slot.length === 0) {
        if (end?.error) throw end.error
        return undefined
      }
      const items = slot
      slot = []
      weightBytes = 0
      if (isFull) {
        isFull = false
        valve.onEmpty()
      }
      return items
    },
  }
}
