import { deferred } from '../deferred.ts'
import { AbortError, StetError } from '../errors.ts'
import type { Completed, StreamEvent } from '../events.ts'
import { createLogger } from '../logger.ts'
import type { Logger, ResumeOptions, StreamCallbacks } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { onAbort, type Runtime, systemRuntime } from '../runtime.ts'
import type { ToolHost, ToolLoop } from '../tools/tool-loop.ts'
import type { Answer } from '../transport/exchange.ts'
import { observe } from '../transport/request.ts'
import type { RunResult } from '../types.ts'
import { EventLog } from './event-log.ts'
import { Listeners } from './listeners.ts'
import { interrupted, type Received, type RunStep, type RunToRead, readRun } from './read-run.ts'
import { advance, type Progress, resultOf, runErrorOf } from './result.ts'

export interface StreamSource<O extends OutputKind> {
  /** Sends the request. Calls `onUuid` if the conversation's uuid is known before the response head. */
  open: (signal: AbortSignal, onUuid: (conversationUuid: string) => void) => Promise<Answer>
  attach?: RunToRead['attach']
  stop?: (conversationUuid: string) => PromiseLike<unknown>
  tools?: ((host: ToolHost) => Promise<ToolLoop<O>>) | undefined
  resume?: boolean | ResumeOptions | undefined
  onAbort?: 'stop' | 'detach' | undefined
  signal?: AbortSignal | undefined
  lastEventId?: string | undefined
  idleTimeout?: number | undefined
  bufferEvents?: boolean | undefined
  callbacks?: StreamCallbacks<O>
  /** Called for every event, after `onEvent`. Must not throw. */
  hook?: ((event: StreamEvent, conversationUuid: string | undefined) => void) | undefined
  prompt?: string | undefined
  logger?: Logger
  runtime?: Runtime
}

type Ending = 'finished' | 'errored' | 'aborted' | 'detached'

/**
 * The usual sequence is connecting → streaming → finished. In between, the state can be reconnecting or tools. Each
 * state before the end can change to errored, aborted or detached.
 */
export type StreamState = 'connecting' | 'streaming' | 'reconnecting' | 'tools' | Ending

/** Reads a run to its end, even without readers, and settles every view exactly once. */
export class RunPump<O extends OutputKind> {
  readonly controller = new AbortController()
  readonly listeners = new Listeners<O>()
  readonly log = new EventLog<StreamEvent>()
  readonly head = deferred<Answer>()
  readonly started = deferred<string>()
  readonly result = deferred<RunResult<O>>()
  requestId: string | null = null
  readonly progress: Progress
  isObserved = false
  stopped: Promise<unknown> | undefined
  readonly #source: StreamSource<O> & { logger: Logger }
  #tools: ToolLoop<O> | undefined
  #phase: 'connecting' | 'streaming' | 'reconnecting' | 'tools' = 'connecting'
  #ending: Ending | undefined
  /** The terminal event of a round that ended with tool calls. */
  #turnEnd: Completed | undefined
  #unfollow = () => {}

  constructor(source: StreamSource<O>) {
    const { signal } = this.controller
    this.#source = { logger: createLogger('warn', console), ...source }
    this.progress = { lastEventId: source.lastEventId, text: '', conversation: [] }
    const { onEvent, onText, onToolCall, onFinished, onError } = source.callbacks ?? {}
    const named = { event: onEvent, text: onText, toolCall: onToolCall, finished: onFinished, error: onError }
    for (const [name, callback] of Object.entries(named)) {
      if (callback) this.listeners.add(name as 'event', callback as never)
    }
    const { hook } = source
    if (hook) this.listeners.add('event', (event) => hook(event, this.progress.conversationUuid))
    signal.addEventListener('abort', () => this.stop('aborted', signal.reason))
    // Start one microtask later, so that listeners added right after construction miss no event.
    queueMicrotask(() => void this.#run(signal).catch((error: unknown) => this.#fail(error)))
  }

  get state(): StreamState {
    return this.#ending ?? (this.#phase === 'streaming' && this.#tools?.running ? 'tools' : this.#phase)
  }

  stop(ending: 'aborted' | 'detached', cause?: unknown): void {
    if (this.#ending) return
    const { conversationUuid } = this.progress
    this.#fail(
      new AbortError(`The stream was ${ending}`, { conversationUuid, detached: ending === 'detached', cause }),
      ending,
    )
    // Between rounds, this stream has no active run, and a stop could hit another caller's run.
    if (ending === 'aborted' && !this.#turnEnd) this.#stopRun(conversationUuid)
  }

  // Sends at most one stop. Ignores a failure, because the stream ends for the reader in any case.
  #stopRun(uuid: string | null | undefined): void {
    if (uuid) this.stopped ??= Promise.resolve(this.#source.stop?.(uuid)).catch(() => {})
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { open, attach, signal: outer, idleTimeout, resume = true, runtime = systemRuntime } = this.#source
    const leave = () => {
      if (this.#source.onAbort === 'detach') this.stop('detached', outer?.reason)
      else this.controller.abort(outer?.reason)
    }
    if (!this.#ending) this.#unfollow = onAbort(outer, leave)
    this.#tools = await this.#source.tools?.({
      scene: () => {
        const { conversationUuid = '', conversation } = this.progress
        return { conversationUuid, messages: conversation, signal }
      },
      tell: (event) => this.listeners.emit('sdk', event),
    })
    let from = this.progress.lastEventId
    let openTurn: (() => Promise<Answer>) | undefined = () => open(signal, (uuid) => this.#learnUuid(uuid))
    while (openTurn && !this.#ending) {
      this.#turnEnd = undefined
      const steps = readRun({
        open: openTurn,
        attach,
        progress: this.progress,
        from,
        resume: typeof resume === 'object' ? resume : { maxAttempts: resume ? 3 : 0 },
        runtime,
        idleTimeout,
        signal,
      })
      for await (const step of steps) {
        this.#take(step)
        // A failure aborts the signal, after which `readRun` releases the connection and ends.
        if (this.#turnEnd || this.#ending === 'finished') break
      }
      // Only the first round can be one that the caller joined.
      from = undefined
      openTurn = this.#turnEnd && (await this.#nextTurn(this.#turnEnd, signal))
    }
  }

  /**
   * Answers the tool calls of a round. Returns the function that opens the next round. If a handler paused, ends the
   * stream and returns undefined.
   */
  async #nextTurn(end: Completed, signal: AbortSignal): Promise<(() => Promise<Answer>) | undefined> {
    this.#phase = 'tools'
    const next = await this.#tools?.nextTurn(end, signal)
    this.#phase = 'connecting'
    if (!next) this.#finish(end)
    return next
  }

  #learnHead(head: Answer): void {
    const { headers } = head.response
    const uuid = headers.get('x-conversation-uuid')
    if (this.#ending === 'aborted') this.#stopRun(uuid)
    if (this.#ending) return
    this.#phase = 'streaming'
    this.requestId ??= headers.get('x-request-id')
    this.head.resolve(head)
    this.#learnUuid(uuid)
  }

  #take(step: RunStep): void {
    try {
      if (step.type === 'head') this.#learnHead(step.head)
      // The stream may have ended while the step was on its way.
      else if (this.#ending) return
      else if (step.type === 'events') this.#receive(step.events, step.head)
      else {
        if (step.type === 'reconnecting') {
          this.#phase = 'reconnecting'
          this.#source.logger.info(`${step.cause}: joined again in ${Math.round(step.delayMs)} ms`)
        }
        this.listeners.emit('sdk', step)
      }
    } catch (reason) {
      // Do not throw: leaving the loop would first wait until the server closes the stream.
      this.#fail(reason)
    }
  }

  #receive(events: Received[], head: Answer): void {
    for (const { event, isOld } of events.splice(0)) {
      if (this.#ending ?? this.#turnEnd) return
      if (event.id && !isOld) this.progress.lastEventId = event.id
      // If the event was processed before, handle only a terminal event, so that the stream ends.
      if (isOld) this.#conclude(event, head)
      else if (event.event === 'latitude-event' || event.event === 'provider-event') this.#accept(event, head)
      else this.listeners.emit('event', event)
    }
  }

  #accept(event: StreamEvent, head: Answer): void {
    advance(this.progress, event)
    this.log.append(event)
    if (event.event === 'latitude-event') this.#learnUuid(event.data.uuid)
    if (event.type === 'provider-started') this.#tools?.declare(event.data.config)
    // Events are frequent, so skip the calls if there are no listeners.
    const isHeard = !this.listeners.isEmpty
    if (isHeard) this.listeners.emit('event', event)
    if (event.event === 'provider-event') {
      if (isHeard || this.#tools) this.#announce(event.data)
    } else this.#conclude(event, head)
  }

  /** Handles a terminal event and ignores all others. Ends the stream, unless a chat with tool results follows. */
  #conclude({ data }: StreamEvent, head: Answer): void {
    if (data.type === 'chain-completed') {
      if (this.#tools?.goesOn(data.toolRequests)) this.#turnEnd = data
      else this.#finish(data)
    } else if (data.type === 'chain-error') {
      const paused = this.#tools?.pausedResult(data, this.progress.text)
      if (paused) this.#settleWith(paused)
      else this.#fail(runErrorOf(data, this.progress, { ...head, prompt: this.#source.prompt }))
    }
  }

  #announce(data: Extract<StreamEvent, { event: 'provider-event' }>['data']): void {
    if (data.type === 'text-delta') this.listeners.emit('text', data.textDelta, this.progress.text)
    if (data.type === 'reasoning-delta') this.listeners.emit('reasoning', data.text)
    if (data.type !== 'tool-call') return
    const call = { id: data.toolCallId, name: data.toolName, arguments: data.args }
    this.listeners.emit('toolCall', call)
    this.#tools?.answer(call).catch((error: unknown) => {
      // Otherwise the run would wait for a result that never arrives.
      if (!this.#ending) this.#stopRun(this.progress.conversationUuid)
      this.#fail(error)
    })
  }

  #learnUuid(uuid: string | null | undefined): void {
    if (!uuid || this.progress.conversationUuid) return
    this.progress.conversationUuid = uuid
    this.started.resolve(uuid)
    this.listeners.emit('started', uuid)
  }

  #finish(data: Completed): void {
    const result = resultOf<O>(data, this.progress)
    if (!result) throw interrupted(this.progress, 'The run completed without an answer')
    this.#settleWith(this.#tools?.total(result) ?? result)
  }

  #settleWith(result: RunResult<O>): void {
    if (this.#ending) return
    this.listeners.emit('finished', result)
    this.#settle('finished')
    this.result.resolve(result)
    this.log.end()
    observe(this.#source, () => this.listeners.emit('end'))
  }

  #fail(error: unknown, ending: Ending = 'errored'): void {
    if (this.#ending) return
    this.#settle(ending)
    this.head.reject(error)
    this.started.reject(error)
    this.result.reject(error)
    this.log.end(() => Promise.reject(error))
    this.controller.abort(error)
    if (StetError.isInstance(error)) observe(this.#source, () => this.listeners.emit('error', error))
    observe(this.#source, () => this.listeners.emit('end'))
    if (ending === 'errored') this.#warnIfUnseen(error)
  }

  #settle(ending: Ending): void {
    this.#ending = ending
    this.#unfollow()
  }

  #warnIfUnseen(error: unknown): void {
    // Wait for a timer, because the caller may still await the result in the current tick.
    setTimeout(() => {
      if (this.isObserved || this.listeners.has('error')) return
      const uuid = this.progress.conversationUuid ?? 'unknown'
      this.#source.logger.warn(`A run failed and its error was not handled (conversation ${uuid}): ${error}`)
    })
  }
}
