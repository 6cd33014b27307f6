/** Publishes the event log of one run to its Redis Stream while other servers follow it. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type BatchText, nextBatch, type OwnedLog, startOfLog } from './event-batch.ts'

export interface PublisherOptions {
  redis: Redis
  key: string
  log: OwnedLog
  /** Finds the event log again after it was published completely. Returns undefined if this process dropped it. */
  find(): OwnedLog | undefined
  /** Publishing stops if no follower signals for this long. */
  unheardMs: number
  onUnheard(): void
}

const liveSeconds = 120
const endedSeconds = 60
const repeatEveryMs = 1_000
const firstRetryMs = 50
const longestRetryMs = 1_000
/** A batch that timed out may still have arrived. After this many timeouts, the stream is trimmed and rewritten. */
const mostCopies = 3

export class EventPublisher {
  readonly #options: PublisherOptions
  readonly #unheard: NodeJS.Timeout
  /** Undefined once everything was published, so that a large event log can be freed. */
  #log: OwnedLog | undefined
  #place = startOfLog
  /** True if the stream must be written from the start. */
  #isStarting = true
  /** True if the stream may have expired or been lost. */
  #isInDoubt = false
  #isHeard = false
  #hasNews = false
  #isStopped = false
  #timeouts = 0
  #repeatedAt = Number.NEGATIVE_INFINITY
  #repeating: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#log = options.log
    this.#unheard = setTimeout(() => {
      this.#isHeard = false
      options.onUnheard()
    }, options.unheardMs).unref()
  }

  /** True if a follower has signaled within `unheardMs`. */
  get isHeard(): boolean {
    return this.#isHeard
  }

  /** Publishes for another `unheardMs`. Called when a follower signals that it has readers. */
  hear(): void {
    this.#isHeard = true
    this.#isInDoubt = true
    this.#unheard.refresh()
    this.wake()
  }

  /** Call after every change of the event log. */
  wake(): void {
    this.#hasNews = true
    if (this.#isHeard && !this.#isStopped) this.#running ??= this.#publish()
  }

  /** Publishes everything again, because a follower has missed events. */
  repeat(): void {
    if (this.#repeating || this.#isStopped) return
    const waitMs = Math.max(0, this.#repeatedAt + repeatEveryMs - performance.now())
    this.#repeating = setTimeout(() => {
      this.#repeating = undefined
      this.#repeatedAt = performance.now()
      this.#log ??= this.#options.find()
      this.#isStarting = true
      this.wake()
    }, waitMs).unref()
  }

  /** Publishes nothing more, not even the end. */
  stop(): void {
    this.#isStopped = true
    this.#log = undefined
    clearTimeout(this.#unheard)
    clearTimeout(this.#repeating)
  }

  /** Resolves when nothing is left to publish. While Redis is unavailable, resolves only after `stop`. */
  async published(): Promise<void> {
    await this.#running
  }

  async #publish(): Promise<void> {
    let retryMs = firstRetryMs
    for (;;) {
      // Lets the events of one turn of the event loop share a batch.
      await turn()
      if (!this.#isHeard || this.#isStopped) break
      this.#hasNews = false
      try {
        const isComplete = !(await this.#publishNext())
        if (isComplete && !this.#hasNews) break
        retryMs = firstRetryMs
      } catch (error) {
        this.#noteFailure(error)
        await pause(retryMs, undefined, { ref: false })
        retryMs = Math.min(2 * retryMs, longestRetryMs)
      }
    }
    this.#running = undefined
  }

  /** The event log is the buffer, so no event is lost. A batch that arrived despite the failure is sent twice. */
  #noteFailure(error: unknown): void {
    this.#isInDoubt = true
    if (!(error instanceof Error) || error.message !== 'Command timed out') return
    this.#timeouts += 1
    if (this.#timeouts % mostCopies === 0) this.#isStarting = true
  }

  /** Returns false if nothing is new. */
  async #publishNext(): Promise<boolean> {
    const { redis, key } = this.#options
    if (this.#isInDoubt && this.#log) {
      this.#isInDoubt = false
      if (!this.#isStarting && (await redis.expire(key, liveSeconds)) === 0) this.#isStarting = true
    }
    if (this.#isStarting) this.#place = startOfLog
    const batch = this.#log && nextBatch(this.#log, this.#place)
    if (batch) await this.#send(batch)
    return batch !== undefined
  }

  async #send({ text, to, isLast }: BatchText): Promise<void> {
    const { redis, key } = this.#options
    const wasStarting = this.#isStarting
    this.#isStarting = false
    const pipeline = redis.pipeline()
    // Trimming keeps the last id of the stream, so that the new batches come after the cursors of all readers.
    if (wasStarting) pipeline.xtrim(key, 'MAXLEN', 0)
    pipeline.xadd(key, '*', 'batch', text)
    pipeline.expire(key, isLast ? endedSeconds : liveSeconds)
    try {
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
    } catch (error) {
      this.#isStarting ||= wasStarting
      throw error
    }
    this.#place = to
    if (isLast && !this.#isStarting) this.#log = undefined
  }
}
