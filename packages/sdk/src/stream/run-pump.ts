import type { EventSourceMessage } from 'eventsource-parser'
import { AbortError, StetError, StreamInterruptedError } from '../errors.ts'
import type { Hooks, Logger } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import type { Answer } from '../transport/exchange.ts'
import { onAbort } from '../transport/on-abort.ts'
import { observe } from '../transport/request.ts'
import { readFrames } from '../transport/sse.ts'
import type { RunResult } from '../types.ts'
import { deferred } from './deferred.ts'
import { EventLog } from './event-log.ts'
import type { StreamEvent } from './events.ts'
import { Listeners } from './listeners.ts'
import { advance, type Progress, resultOf, runErrorOf } from './result.ts'

/** How a stream is opened and observed. */
export interface StreamSource {
  open: (signal: AbortSignal) => Promise<Answer>
  /** Stops the run itself. */
  stop?: (conversationUuid: string) => PromiseLike<unknown>
  onAbort?: 'stop' | 'detach' | undefined
  signal?: AbortSignal | undefined
  /** Milliseconds, 45_000 */
  idleTimeout?: number | undefined
  /** true */
  bufferEvents?: boolean | undefined
  logger: Logger
  hooks?: Hooks | undefined
  /** The prompt's path, for hooks. */
  path?: string | undefined
}

/** connecting → streaming → finished; any of the others may end the first two. */
export type StreamState =
  | 'connecting'
  | 'streaming'
  | 'reconnecting'
  | 'tools'
  | 'finished'
  | 'errored'
  | 'aborted'
  | 'detached'

// after the terminal event the server closes by itself; waiting for it keeps the connection for the next request
const FAREWELL_MS = 1000
const IDLE_TIMEOUT_MS = 45_000

/** Reads a run to its end whether or not anybody looks, and settles every view exactly once. */
export class RunPump<O extends OutputKind> {
  readonly controller = new AbortController()
  readonly listeners = new Listeners<O>()
  readonly log: EventLog<StreamEvent>
  readonly head = deferred<Answer>()
  readonly started = deferred<string>()
  readonly result = deferred<RunResult<O>>()
  state: StreamState = 'connecting'
  requestId: string | null = null
  lastEventId: string | undefined
  progress: Progress = { conversationUuid: undefined, text: '', conversation: [], response: undefined }
  /** Whether somebody would learn of a failure. */
  isObserved = false
  /** Settles when the service was told to stop the run, or could not be. */
  stopped: Promise<unknown> = Promise.resolve()
  readonly #source: StreamSource
  #isStarted = false
  #unfollow = () => {}

  constructor(source: StreamSource) {
    const { signal } = this.controller
    this.#source = source
    this.log = new EventLog(source.bufferEvents ?? true)
    signal.addEventListener('abort', () => this.stop('aborted', signal.reason))
    // one microtask later, so that listeners set right after construction miss nothing
    queueMicrotask(() => void this.#run(signal).catch((error: unknown) => this.#fail(error)))
  }

  get isSettled(): boolean {
    return this.state !== 'connecting' && this.state !== 'streaming'
  }

  /** Ends the stream on the caller's wish; nothing happens once it has ended. */
  stop(state: 'aborted' | 'detached', cause?: unknown): void {
    if (this.isSettled) return
    const { conversationUuid } = this.progress
    this.#fail(
      new AbortError(`The stream was ${state}`, { conversationUuid, detached: state === 'detached', cause }),
      state,
    )
    this.#stopRun(conversationUuid)
  }

  // best effort: the stream has ended for its reader whatever comes of it
  #stopRun(uuid: string | null | undefined): void {
    if (this.state !== 'aborted' || !uuid) return
    this.stopped = Promise.resolve(this.#source.stop?.(uuid)).catch(() => undefined)
  }

  #leave(reason: unknown): void {
    if (this.#source.onAbort === 'detach') this.stop('detached', reason)
    else this.controller.abort(reason)
  }

  /** Opens, and reads until there is nothing more; if the run has not ended by then, it is an interruption. */
  async #run(signal: AbortSignal): Promise<void> {
    const { open, signal: outer, idleTimeout = IDLE_TIMEOUT_MS } = this.#source
    if (!this.isSettled) this.#unfollow = onAbort(outer, () => this.#leave(outer?.reason))
    if (this.isSettled) return
    const head = await open(signal)
    const { headers, body } = head.response
    if (this.isSettled) {
      this.#stopRun(headers.get('x-conversation-uuid'))
      return body?.cancel()
    }
    this.state = 'streaming'
    this.requestId = headers.get('x-request-id')
    this.head.resolve(head)
    this.#learnUuid(headers.get('x-conversation-uuid'))
    if (!body) throw this.#interrupted('The answer has no readable body; use stream: false in this runtime')
    const isIdle = await readFrames(body, {
      onFrame: (frame) => this.#receive(frame, head),
      idleMs: () => (this.isSettled ? FAREWELL_MS : idleTimeout),
      signal,
    }).catch((cause: unknown) => {
      throw this.#interrupted('The connection broke during the run', cause)
    })
    throw this.#interrupted(isIdle ? `Nothing arrived for ${idleTimeout} ms` : 'The stream ended before its run')
  }

  #receive(frame: EventSourceMessage, head: Answer): void {
    if (this.isSettled) return
    try {
      const event = this.#decode(frame)
      if (event.event === 'latitude-event' || event.event === 'provider-event') this.#accept(event, head)
      else this.listeners.emit('event', event)
    } catch (reason) {
      // not thrown on: reading would take it for a broken socket
      this.#fail(reason)
    }
  }

  #decode(frame: EventSourceMessage): StreamEvent {
    const { id = '', event = 'message' } = frame
    try {
      const data: unknown = JSON.parse(frame.data)
      // the payload is the server's word; what is computed from it below reads single keys only
      return { id, event, type: (data as { type?: unknown }).type, data } as StreamEvent
    } catch (cause) {
      throw this.#interrupted('The stream holds an event that is not JSON', cause)
    }
  }

  #accept(event: StreamEvent, head: Answer): void {
    if (event.id) this.lastEventId = event.id
    this.progress = advance(this.progress, event)
    this.log.append(event)
    this.#learnUuid(this.progress.conversationUuid)
    const { path, hooks } = this.#source
    const { conversationUuid } = this.progress
    const about = { ...(conversationUuid && { conversationUuid }), ...(path && { path }) }
    observe(this.#source, () => hooks?.onStreamEvent?.(event, about))
    this.listeners.emit('event', event)
    if (event.event === 'provider-event') this.#announce(event.data)
    else if (event.data.type === 'chain-completed') this.#finish(resultOf<O>(event.data, this.progress))
    else if (event.data.type === 'chain-error') {
      this.#fail(runErrorOf(event.data, this.progress, head))
    }
  }

  #announce(data: Extract<StreamEvent, { event: 'provider-event' }>['data']): void {
    if (data.type === 'text-delta') this.listeners.emit('text', data.textDelta, this.progress.text)
    if (data.type === 'reasoning-delta') this.listeners.emit('reasoning', data.text)
    if (data.type === 'tool-call') {
      this.listeners.emit('toolCall', { id: data.toolCallId, name: data.toolName, arguments: data.args })
    }
  }

  #learnUuid(uuid: string | null | undefined): void {
    if (!uuid || this.#isStarted) return
    this.#isStarted = true
    this.progress = { ...this.progress, conversationUuid: uuid }
    this.started.resolve(uuid)
    this.listeners.emit('started', uuid)
  }

  #finish(result: RunResult<O> | undefined): void {
    if (!result) throw this.#interrupted('The run completed without an answer')
    if (this.isSettled) return
    this.listeners.emit('finished', result)
    this.#settle('finished')
    this.result.resolve(result)
    this.log.end()
    observe(this.#source, () => this.listeners.emit('end'))
  }

  #fail(error: unknown, state: 'errored' | 'aborted' | 'detached' = 'errored'): void {
    if (this.isSettled) return
    this.#settle(state)
    for (const view of [this.head, this.started, this.result]) view.reject(error)
    this.log.fail(error)
    this.controller.abort(error)
    if (StetError.isInstance(error)) observe(this.#source, () => this.listeners.emit('error', error))
    observe(this.#source, () => this.listeners.emit('end'))
    if (state === 'errored') this.#warnIfUnseen(error)
  }

  #settle(state: StreamState): void {
    this.state = state
    this.#unfollow()
  }

  #warnIfUnseen(error: unknown): void {
    // a caller may await the result later in the same turn
    setTimeout(() => {
      if (this.isObserved || this.listeners.has('error')) return
      const uuid = this.progress.conversationUuid ?? 'unknown'
      this.#source.logger.warn(`A run failed and nobody looked (conversation ${uuid}): ${error}`)
    })
  }

  #interrupted(message: string, cause?: unknown): StreamInterruptedError {
    const { lastEventId } = this
    const { conversationUuid, text } = this.progress
    return new StreamInterruptedError(message, { conversationUuid, lastEventId, partial: { text }, cause })
  }
}
