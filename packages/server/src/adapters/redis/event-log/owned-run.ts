/**
 * The event log of a run of this server. While another server follows the run, its events are copied to the Redis Stream of
 * the run, and a notice on the Pub/Sub channel of the same name announces each batch.
 */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { LogEntry, RunLogReader, RunLogWriter } from '../../../features/runs/ports.ts'

export interface OwnedRunOptions {
  redis: Redis
  key: string
  /** The event log in the memory of this server. */
  writer: RunLogWriter
  /** Adds a local reader that represents all readers on other servers. */
  represent(): RunLogReader | undefined
  /** Without a signal from a follower for this long, the run has no readers on other servers. */
  unheardMs: number
  onClosed(): void
}

const streamSeconds = 120
const firstRetryMs = 50
const maxRetryMs = 1_000
/** Redis' answer to a batch that has arrived before, although its first attempt failed. */
const isKnownId = /equal or smaller/

export class OwnedRun implements RunLogWriter {
  readonly messages: readonly string[]
  readonly entries: readonly LogEntry[]
  readonly #options: OwnedRunOptions
  /** The place up to which the stream has the event log. */
  #place = startOfLog
  #latestId = beforeStream
  #isCallerAwaited = false
  /** True if a follower has to learn the state of the run, or the stream may be lost. */
  #isAsked = false
  #isPublishing = false
  /** Until then, the events have readers on other servers. Those that need only the end do not count. */
  #readUntil = Number.NEGATIVE_INFINITY
  #isStopped = false
  #presence: RunLogReader | undefined
  #absence: NodeJS.Timeout | undefined

  constructor(options: OwnedRunOptions) {
    this.#options = options
    this.messages = options.writer.messages
    this.entries = options.writer.entries
  }

  setCallerAwaited(isAwaited: boolean): void {
    this.#options.writer.setCallerAwaited(isAwaited)
    this.#isCallerAwaited = isAwaited
  }

  append(messages: readonly string[], entries: readonly LogEntry[]): void {
    this.#options.writer.append(messages, entries)
    this.#wake()
  }

  /** Followers read the rest of the event log, with its end, from the database. */
  close(): void {
    const { redis, key, writer, onClosed } = this.#options
    this.stop()
    writer.close()
    onClosed()
    if (!this.#presence) return
    this.#presence.release()
    const pipeline = redis.pipeline().unlink(key).publish(key, 'ended')
    // If this fails, the stream expires, and followers look for the end by themselves.
    pipeline.exec().catch(() => undefined)
  }

  /** Publishes nothing more. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#absence)
  }

  /** Called when a reader on another server signals that it is there. Some need only the end, and no events. */
  noteFollower(readsEvents: boolean): void {
    if (this.#isStopped) return
    this.#presence ??= this.#options.represent()
    if (readsEvents) this.#readUntil = performance.now() + this.#options.unheardMs
    this.#isAsked = true
    this.#awaitSignals()
    this.#wake()
  }

  #awaitSignals(): void {
    clearTimeout(this.#absence)
    if (!this.#isStopped) this.#absence = setTimeout(() => void this.#endPresence(), this.#options.unheardMs).unref()
  }

  async #endPresence(): Promise<void> {
    const absence = this.#absence
    try {
      await this.#options.redis.ping()
      // A reader has signalled meanwhile.
      if (this.#absence !== absence) return
      this.#presence?.release()
      this.#presence = undefined
    } catch {
      // Without Redis, no signal arrives, although the readers may still be there.
      this.#awaitSignals()
    }
  }

  #wake(): void {
    if (!this.#isPublishing && this.#isFollowed()) void this.#publish()
  }

  #isFollowed(): boolean {
    return !this.#isStopped && this.#presence !== undefined
  }

  /** The event log is the buffer, so nothing is lost while Redis is unavailable. */
  async #publish(): Promise<void> {
    this.#isPublishing = true
    let retryMs = firstRetryMs
    let batch: ReturnType<typeof nextBatch>
    for (;;) {
      // Lets the events of one turn of the event loop share a batch.
      await turn()
      if (!this.#isFollowed()) break
      // A batch whose answer was lost is sent again unchanged: another one may have a smaller id.
      if (performance.now() < this.#readUntil) batch ??= nextBatch(this, this.#place)
      if (!batch && !this.#isAsked) break
      this.#isAsked = false
      try {
        await this.#send(batch)
        batch = undefined
        retryMs = firstRetryMs
      } catch {
        this.#isAsked = true
        await pause(retryMs, undefined, { ref: false })
        retryMs = Math.min(2 * retryMs, maxRetryMs)
      }
    }
    this.#isPublishing = false
  }

  async #send(batch: ReturnType<typeof nextBatch>): Promise<void> {
    const { redis, key } = this.#options
    // A transaction, so that every stream has an expiry.
    const commands = redis.multi()
    if (batch) {
      // Only its first batch may create a stream. So a stream has no gaps, and one that was lost is noticed.
      const condition = this.#place === startOfLog ? [] : ['NOMKSTREAM']
      commands.xadd(key, ...condition, batch.id, 'batch', batch.text)
    }
    const latestId = batch?.id ?? this.#latestId
    commands.expire(key, streamSeconds)
    commands.publish(key, `${this.#isCallerAwaited ? 'awaiting' : 'working'} ${latestId}`)
    const replies = (await commands.exec()) ?? []
    for (const [error] of replies) if (error && !isKnownId.test(error.message)) throw error
    const [, isKept] = replies.at(-2) ?? []
    this.#place = isKept === 0 ? startOfLog : (batch?.to ?? this.#place)
    this.#latestId = isKept === 0 ? beforeStream : latestId
  }
}

// The id of a batch in the run's Redis Stream is the place after it, so a batch that is sent twice is stored once. A
// stream that was lost is written again with other batches, so that a reader that misses events begins anew; it
// recognizes stored events by their ids.

/** The numbers of messages and entries before a place in the event log. */
interface Place {
  messages: number
  entries: number
}

const startOfLog: Place = { messages: 0, entries: 0 }
export const beforeStream = '0-0'

export interface EventBatch {
  from: Place
  messages: string[]
  entries: LogEntry[]
}

/** A batch is limited to this size, except a single larger message or entry. */
const batchCharacters = 32_768

/**
 * Returns undefined if nothing is new. Entries may refer to any message, so a batch has entries only after all
 * messages.
 */
export function nextBatch(
  log: Pick<RunLogWriter, 'messages' | 'entries'>,
  from: Place,
): { id: string; text: string; to: Place } | undefined {
  const room = { left: batchCharacters, isEmpty: true }
  const messages = takeFitting(log.messages, from.messages, (message) => message.length, room)
  const areAllIncluded = from.messages + messages.length === log.messages.length
  const entries = areAllIncluded ? takeFitting(log.entries, from.entries, entryCharacters, room) : []
  if (room.isEmpty) return undefined
  const to = { messages: from.messages + messages.length, entries: from.entries + entries.length }
  return { id: `${to.entries}-${to.messages}`, text: JSON.stringify({ from, messages, entries }), to }
}

function takeFitting<T>(
  items: readonly T[],
  from: number,
  charactersOf: (item: T) => number,
  room: { left: number; isEmpty: boolean },
): T[] {
  const taken: T[] = []
  for (let place = from; place < items.length; place += 1) {
    const item = items[place] as T
    const characters = charactersOf(item)
    if (characters > room.left && !room.isEmpty) break
    room.left -= characters
    room.isEmpty = false
    taken.push(item)
  }
  return taken
}

function entryCharacters({ pieces }: LogEntry): number {
  if (typeof pieces === 'string') return pieces.length
  let characters = 0
  for (const piece of pieces) characters += piece.length
  return characters
}

/** @throws SyntaxError if the text is not JSON. */
export function readBatch([id, [, text = '']]: [id: string, fields: string[]]): [id: string, batch: EventBatch] {
  return [id, JSON.parse(text) as EventBatch]
}
