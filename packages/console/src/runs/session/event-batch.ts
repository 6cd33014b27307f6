import type { StreamEvent } from '@stet/sdk'
import type { SdkEvent } from '../follow-run.ts'

type Arrived = [event: StreamEvent | SdkEvent, at: number]

/** Hidden tabs get no animation frames. */
const hiddenMs = 250

/** Collects events until the next animation frame, because a model may send many words in one. */
export class EventBatch {
  readonly #apply: (arrived: readonly Arrived[]) => void
  #arrived: Arrived[] = []
  #cancel: (() => void) | undefined

  constructor(apply: (arrived: readonly Arrived[]) => void) {
    this.#apply = apply
  }

  add(event: StreamEvent | SdkEvent): void {
    this.#arrived.push([event, performance.now()])
    if (this.#cancel) return
    const flush = () => this.flush()
    const frame = requestAnimationFrame(flush)
    const timer = setTimeout(flush, hiddenMs)
    this.#cancel = () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }

  flush(): void {
    const arrived = this.#arrived
    this.clear()
    if (arrived.length > 0) this.#apply(arrived)
  }

  clear(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#arrived = []
  }
}
