/** One run of another server, with all readers that it has here. They share its messages, its signals and its watch. */
import { storedReader } from '../../../features/runs/events/stored-events.ts'
import type { EncodedMessage, EventCodec, FindEnd, RunLogReader } from '../../../features/runs/ports.ts'
import type { SignalChannel } from '../signal-channel.ts'
import { beforeStream, isAfter, type StreamBatch } from './event-batch.ts'
import type { EventHub } from './event-hub.ts'
import { createRemoteReader, type RemoteReader } from './remote-reader.ts'

export interface FollowedRun {
  follow(afterId: number, find: FindEnd): RunLogReader
  /** Asks the owner for the events. */
  signal(): void
  /** Reads the stream from its start, because Redis may have lost it. */
  restart(): void
  readerCount(): number
  close(): void
}

export interface FollowTimes {
  /** Followers signal this often that they have readers. */
  signalMs: number
  /** Without events for this long, a follower looks into the database. The interval grows up to `longestWatchMs`. */
  watchMs: number
  longestWatchMs: number
}

interface FollowedRunOptions {
  runUuid: string
  key: string
  hub: EventHub
  channel: SignalChannel
  codec: EventCodec
  times: FollowTimes
  onUnread(): void
}

const watchGrowth = 1.5
const againEveryMs = 1_000
const lookAtLastMs = 20_000

export function createFollowedRun(options: FollowedRunOptions): FollowedRun {
  const { runUuid, key, hub, channel, codec, times, onUnread } = options
  const messages: EncodedMessage[] = []
  /** Readers that may get events from the stream, each with its view of the database. */
  const readers = new Map<RemoteReader, FindEnd>()
  /** Readers that have seen everything that the hub has delivered. */
  const atLiveEdge = new Set<RemoteReader>()
  const fetching = new Set<RemoteReader>()
  /** Readers that have missed events and wait until the owner repeats them. */
  const missing = new Set<RemoteReader>()
  let newest = beforeStream
  let isCallerAwaited = false
  let hasNews = true
  let waitMs = times.watchMs
  let signalledAt = Number.NEGATIVE_INFINITY
  let againAt = Number.NEGATIVE_INFINITY
  let lookedAt = performance.now()
  let timer: NodeJS.Timeout | undefined

  const signal = () => {
    signalledAt = performance.now()
    channel.publish('follow', runUuid)
  }
  const askAgain = () => {
    const now = performance.now()
    if (now - againAt < againEveryMs) return
    againAt = now
    channel.publish('again', runUuid)
  }
  /** Adds the batch's messages. Returns false if earlier messages are missing. */
  const note = (batch: StreamBatch): boolean => {
    hasNews = true
    noteFlag(batch)
    const from = batch.from.messages
    if (from > messages.length) return false
    for (const message of batch.messages.slice(messages.length - from)) messages.push(message)
    return true
  }
  const noteFlag = (batch: StreamBatch) => {
    if (!isAfter(batch.id, newest)) return
    newest = batch.id
    isCallerAwaited = batch.isCallerAwaited
  }
  const hand = (reader: RemoteReader, batch: StreamBatch, hasMessages: boolean): boolean => {
    if (!isAfter(batch.id, reader.cursor)) return true
    const result = reader.accept(batch, hasMessages)
    if (result === 'gap') {
      missing.add(reader)
      askAgain()
    } else missing.delete(reader)
    if (result === 'ended') remove(reader)
    return result !== 'full'
  }
  const leaveEdge = (reader: RemoteReader) => {
    if (atLiveEdge.delete(reader) && atLiveEdge.size === 0) hub.leave(key)
  }
  const deliver = (batches: readonly StreamBatch[]) => {
    for (const batch of batches) {
      const hasMessages = note(batch)
      for (const reader of atLiveEdge) if (!hand(reader, batch, hasMessages)) leaveEdge(reader)
    }
  }
  const joinEdge = (reader: RemoteReader): boolean => {
    const cursor = hub.cursorOf(key)
    if (cursor !== undefined && isAfter(cursor, reader.cursor)) return false
    atLiveEdge.add(reader)
    if (cursor === undefined) hub.join(key, reader.cursor, deliver)
    return true
  }
  /** Fetches further batches for an empty reader. At the live edge, the hub takes over. */
  const catchUp = async (reader: RemoteReader) => {
    if (atLiveEdge.has(reader) || fetching.has(reader)) return
    fetching.add(reader)
    try {
      while (readers.has(reader) && reader.isWaiting()) {
        const batches = await hub.read(key, reader.cursor, reader.wanted)
        if (!readers.has(reader)) break
        if (batches.length === 0 && joinEdge(reader)) break
        for (const batch of batches) if (!hand(reader, batch, note(batch))) break
      }
    } catch {
      // The watch tries again.
    }
    fetching.delete(reader)
  }
  const remove = (reader: RemoteReader) => {
    if (!readers.delete(reader)) return
    leaveEdge(reader)
    missing.delete(reader)
    if (readers.size > 0) return
    clearTimeout(timer)
    onUnread()
  }
  /** Finds an end that does not arrive through Redis, because the owner, the stream or Redis is gone. */
  const lookForEnd = async () => {
    const waiting = [...readers].filter(([reader]) => reader.isWaiting())
    const [first] = waiting
    if (!first) return
    const [, find] = first
    const found = await find()
    if (found === 'active') return
    if (found === 'deleted') {
      for (const reader of [...readers.keys()]) {
        reader.end()
        remove(reader)
      }
      return
    }
    for (const [reader] of waiting) {
      if (!reader.isWaiting()) continue
      reader.continueWith(storedReader(codec, found, reader.lastId))
      remove(reader)
    }
  }
  const watch = async () => {
    const wasSilent = !hasNews
    hasNews = false
    waitMs = wasSilent ? Math.min(waitMs * watchGrowth, times.longestWatchMs) : times.watchMs
    if (wasSilent || performance.now() - signalledAt >= times.signalMs) signal()
    if (missing.size > 0) askAgain()
    for (const reader of readers.keys()) if (reader.isWaiting()) void catchUp(reader)
    // If the database is unavailable, the next round looks again.
    if (wasSilent) await lookForEnd().catch(() => undefined)
    if (readers.size > 0) plan()
  }
  const plan = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void watch(), waitMs).unref()
  }
  /** A reader that stalls does not get the batches, so the flag is read from the last one. */
  const isAwaited = () => {
    const now = performance.now()
    if (atLiveEdge.size === 0 && now - lookedAt >= lookAtLastMs) {
      lookedAt = now
      hub.readLast(key).then(
        (batch) => batch && noteFlag(batch),
        () => undefined,
      )
    }
    return isCallerAwaited
  }

  return {
    follow(afterId, find) {
      const reader = createRemoteReader({
        messages,
        afterId,
        isCallerAwaited: isAwaited,
        onEmpty: (empty) => void catchUp(empty),
        onReleased: remove,
      })
      readers.set(reader, find)
      if (readers.size === 1) {
        signal()
        plan()
      }
      void catchUp(reader)
      return reader
    },
    signal,
    readerCount: () => readers.size,
    restart() {
      newest = beforeStream
      signal()
      for (const reader of readers.keys()) {
        reader.restart()
        leaveEdge(reader)
        if (reader.isWaiting()) void catchUp(reader)
      }
    },
    close() {
      for (const reader of [...readers.keys()]) remove(reader)
    },
  }
}
