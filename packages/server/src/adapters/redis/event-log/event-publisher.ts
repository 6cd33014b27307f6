/** Publishes the event log of one run to its Redis Stream while other servers follow it. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { nextBatch, type OwnedLog, startOfLog } from './event-batch.ts'

export interface EventPublisher {
  /** Publishes new events for another while. Called when a follower signals that it has readers. */
  hear(): void
  /** True if a follower was heard within `unheardMs`. */
  isHeard(): boolean
  /** Publishes everything again, because a follower has missed events. */
  repeat(): void
  /** Call after every change of the event log. */
  wake(): void
  /** Publishes nothing more, and no end. */
  stop(): void
  /** Resolves when nothing is left to publish, or while Redis is away only after `stop`. */
  published(): Promise<void>
}

export interface PublisherOptions {
  redis: Redis
  key: string
  log: OwnedLog
  /** Finds the event log again after it was published completely. Returns undefined if this process dropped it. */
  find(): OwnedLog | undefined
  /** Without a signal for this long, there are no followers. */
  unheardMs: number
  onUnheard(): void
}

const liveSeconds = 120
const endedSeconds = 60
const repeatEveryMs = 1_000
/** A batch that times out may have arrived. After this many copies, the stream is trimmed. */
const mostCopies = 3
const firstRetryMs = 50
const longestRetryMs = 1_000

export function createEventPublisher({ redis, key, find, unheardMs, ...options }: PublisherOptions): EventPublisher {
  /** Undefined once everything was published, so that this does not keep a large event log in memory. */
  let log: OwnedLog | undefined = options.log
  let place = startOfLog
  /** True if the stream must be written from the start. */
  let isStarting = true
  /** True if the stream may have expired or may be lost. */
  let isInDoubt = false
  let isHeard = false
  let hasNews = false
  let isStopped = false
  let repeatedAt = Number.NEGATIVE_INFINITY
  let repeating: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  const unheard = setTimeout(() => {
    isHeard = false
    options.onUnheard()
  }, unheardMs).unref()

  const send = async ({ text, to, isLast }: NonNullable<ReturnType<typeof nextBatch>>) => {
    const wasStarting = isStarting
    isStarting = false
    const pipeline = redis.pipeline()
    // Trimming keeps the last id of the stream, so that the new batches come after the cursors of all readers.
    if (wasStarting) pipeline.xtrim(key, 'MAXLEN', 0)
    pipeline.xadd(key, '*', 'batch', text)
    pipeline.expire(key, isLast ? endedSeconds : liveSeconds)
    try {
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
    } catch (error) {
      isStarting ||= wasStarting
      throw error
    }
    place = to
    if (isLast && !isStarting) log = undefined
  }
  /** Returns false if nothing is new. */
  const publishNext = async (): Promise<boolean> => {
    if (isInDoubt && log) {
      isInDoubt = false
      if (!isStarting && (await redis.expire(key, liveSeconds)) === 0) isStarting = true
    }
    if (isStarting) place = startOfLog
    const batch = log && nextBatch(log, place)
    if (batch) await send(batch)
    return batch !== undefined
  }
  const publish = async () => {
    let retryMs = firstRetryMs
    let timeouts = 0
    for (;;) {
      // Collects the events of this turn.
      await turn()
      if (!isHeard || isStopped) break
      hasNews = false
      try {
        if (!(await publishNext()) && !hasNews) break
        retryMs = firstRetryMs
      } catch (error) {
        // The event log itself is the buffer. A batch that arrived in spite of the failure is sent twice.
        if (error instanceof Error && error.message === 'Command timed out') timeouts += 1
        if (timeouts % mostCopies === 0 && timeouts > 0) isStarting = true
        isInDoubt = true
        await pause(retryMs, undefined, { ref: false })
        retryMs = Math.min(2 * retryMs, longestRetryMs)
      }
    }
    running = undefined
  }
  const wake = () => {
    hasNews = true
    if (isHeard && !isStopped) running ??= publish()
  }
  const repeatNow = () => {
    repeating = undefined
    repeatedAt = performance.now()
    log ??= find()
    isStarting = true
    wake()
  }
  return {
    hear() {
      isHeard = true
      isInDoubt = true
      unheard.refresh()
      wake()
    },
    isHeard: () => isHeard,
    repeat() {
      if (repeating || isStopped) return
      const waitMs = Math.max(0, repeatedAt + repeatEveryMs - performance.now())
      repeating = setTimeout(repeatNow, waitMs).unref()
    },
    wake,
    stop() {
      isStopped = true
      log = undefined
      clearTimeout(unheard)
      clearTimeout(repeating)
    },
    published: () => running ?? Promise.resolve(),
  }
}
