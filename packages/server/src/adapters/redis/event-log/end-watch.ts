/** Waits for the end of a run of another server, for readers that need no events. Polls the database only. */
import type { FindEnd, RunLogReader } from '../../../features/runs/ports.ts'
import type { SignalChannel } from '../signal-channel.ts'

export interface EndWatch {
  follow(find: FindEnd): RunLogReader
  /** Signals the owner that the run has readers. */
  signal(): void
  readerCount(): number
  close(): void
}

interface EndWatchOptions {
  runUuid: string
  channel: SignalChannel
  signalMs: number
  onUnread(): void
}

const firstLookMs = 100
const longestLookMs = 1_000
const growth = 1.25

interface Waiting {
  find: FindEnd
  wake?: (() => void) | undefined
  listener?: (() => void) | undefined
}

export function createEndWatch({ runUuid, channel, signalMs, onUnread }: EndWatchOptions): EndWatch {
  const readers = new Set<Waiting>()
  let isEnded = false
  let isClosed = false
  let lookMs = firstLookMs
  let signalledAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const signal = () => {
    signalledAt = performance.now()
    channel.publish('present', runUuid)
  }
  const notify = (reader: Waiting) => {
    reader.wake?.()
    reader.wake = undefined
    reader.listener?.()
  }
  const look = async () => {
    if (performance.now() - signalledAt >= signalMs) signal()
    const [first] = readers
    const found = await first?.find().catch(() => 'active' as const)
    if (isClosed) return
    if (found !== undefined && found !== 'active') {
      isEnded = true
      for (const reader of readers) notify(reader)
      close()
    } else if (readers.size > 0) {
      lookMs = Math.min(lookMs * growth, longestLookMs)
      plan()
    }
  }
  const plan = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void look(), lookMs).unref()
  }
  const close = () => {
    isClosed = true
    clearTimeout(timer)
    readers.clear()
    onUnread()
  }
  return {
    follow(find) {
      const reader: Waiting = { find }
      readers.add(reader)
      // The run may be short, so polling is frequent again for a new reader.
      lookMs = firstLookMs
      if (readers.size === 1) signal()
      plan()
      return {
        messages: [],
        take: () => [],
        changed() {
          if (isEnded || !readers.has(reader)) return Promise.resolve()
          return new Promise((resolve) => {
            reader.wake = resolve
          })
        },
        listen(listener) {
          reader.listener = listener
        },
        isAtEnd: () => isEnded,
        isCallerAwaited: () => false,
        release() {
          reader.listener = undefined
          if (!readers.delete(reader)) return
          reader.wake?.()
          if (readers.size === 0) close()
        },
      }
    },
    signal,
    readerCount: () => readers.size,
    close,
  }
}
