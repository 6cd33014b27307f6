import { quiet } from '../deferred.ts'
import { ConfigurationError } from '../errors.ts'
import type { AsyncIterableStream, ForwardOptions, StreamEvent, StreamEventMap } from '../events.ts'
import type { IsText, OutputKind, PartialObject } from '../registry.ts'
import { requireEvents } from '../transport/response-error.ts'
import type { FinishReason, Message, RunResult, ToolCall, Usage } from '../types.ts'
import { readableOf, textOf } from '../views/readable.ts'
import type { Place } from './event-log.ts'
import { RunPump, type StreamSource, type StreamState } from './run-pump.ts'

/**
 * A run in progress. The client reads the run to its end even if you do not iterate. Unless
 * `bufferEvents` is false, every view starts at the first event, so you can combine several views. The stream is not a
 * promise: await `finalResult()` or another result.
 *
 * @example
 * const stream = stet.prompts.stream('support/reply', { parameters: { ticket } })
 * for await (const text of stream.textStream) process.stdout.write(text)
 * const { tokenUsage } = await stream.finalResult()
 */
export class RunStream<O extends OutputKind = 'text'> implements AsyncIterable<StreamEvent> {
  readonly #pump: RunPump<O>
  /**
   * The first entry for readers. The pump does not reference this entry. If the application drops the stream, the
   * events that all readers have passed can therefore be garbage-collected, even while the run continues.
   */
  readonly #first: Place<StreamEvent> | undefined

  /** For internal use. The client, `openRun` and `RunStream.fromResponse` create streams. */
  constructor(source: StreamSource<O>) {
    this.#pump = new RunPump(source)
    if (source.bufferEvents !== false) this.#first = this.#pump.log.tail
  }

  /** Aborting this controller is the same as calling `abort()`. */
  get controller(): AbortController {
    return this.#pump.controller
  }

  /** Known from the response head, or at the latest from the first `latitude-event`. */
  get conversationUuid(): string | undefined {
    return this.#pump.progress.conversationUuid
  }

  get requestId(): string | null {
    return this.#pump.requestId
  }

  get lastEventId(): string | undefined {
    return this.#pump.progress.lastEventId
  }

  get state(): StreamState {
    return this.#pump.state
  }

  /** The current step's text so far. */
  get text(): string {
    return this.#pump.progress.text
  }

  /** The conversation so far. */
  get conversation(): readonly Message[] {
    return this.#pump.progress.conversation
  }

  /**
   * Creates a reader, which starts at the first event unless `bufferEvents` is false. Breaking out of the loop ends
   * only this reader, not the run.
   */
  [Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
    return this.#events()
  }

  /** The response text, delta by delta. For a prompt with `<step>` tags, the text of all steps. */
  get textStream(): AsyncIterableStream<string> {
    return readableOf(textOf(this.#events()))
  }

  /** The structured response while the model generates it: partial objects, then the complete object. */
  get objectStream(): AsyncIterableStream<PartialObject<O>> {
    return readableOf(growing(this.#events())) as AsyncIterableStream<PartialObject<O>>
  }

  /**
   * Resolves to the conversation's uuid as soon as the uuid is known.
   *
   * @example const uuid = await stream.started()
   */
  started(): Promise<string> {
    return this.#seen().started.promise
  }

  /**
   * Resolves to the result. Rejects with a StetError, for example RunError, StreamInterruptedError or AbortError.
   *
   * @example const { response, tokenUsage, cost } = await stream.finalResult()
   */
  finalResult(): Promise<RunResult<O>> {
    return this.#seen().result.promise
  }

  /**
   * Resolves to the text of the last response.
   *
   * @example const answer = await stream.finalText()
   */
  finalText(): Promise<string> {
    return this.#derive(({ response }) => response.text)
  }

  /**
   * Resolves to the object of the last response. Rejects with ConfigurationError for prompts without a `schema`.
   *
   * @example
   * const { urgency } = await stet.prompts.stream<{ urgency: string }>('support/triage', { parameters: { ticket } }).finalObject()
   */
  finalObject(): Promise<IsText<O> extends true ? never : O> {
    return this.#derive(({ response }) => {
      // An object response has the type that the signature declares.
      if (response.streamType === 'object') return response.object as never
      throw new ConfigurationError('The prompt of this run has no schema')
    })
  }

  /** Resolves to the token usage of all steps. */
  get usage(): Promise<Usage> {
    return this.#derive(({ tokenUsage }) => tokenUsage)
  }

  get finishReason(): Promise<FinishReason> {
    return this.#derive(({ response }) => response.finishReason)
  }

  /** Resolves to the tool calls of the last response. */
  get toolCalls(): Promise<ToolCall[]> {
    return this.#derive(({ response }) => response.toolCalls)
  }

  /**
   * Adds a listener for future events. Listeners run synchronously in event order. An exception rejects the stream,
   * except in `error` and `end` listeners, where the client logs the exception.
   *
   * @example stream.on('text', (delta) => process.stdout.write(delta)).on('error', report)
   */
  on<K extends keyof StreamEventMap<O>>(k: K, fn: StreamEventMap<O>[K]): this {
    this.#pump.listeners.add(k, fn)
    return this
  }

  /**
   * Adds a listener for the next event only.
   *
   * @example stream.once('text', () => hideSpinner())
   */
  once<K extends keyof StreamEventMap<O>>(k: K, fn: StreamEventMap<O>[K]): this {
    this.#pump.listeners.add(k, fn, true)
    return this
  }

  /**
   * Removes a listener.
   *
   * @example
   * const onText = (delta: string) => process.stdout.write(delta)
   * stream.on('text', onText).off('text', onText)
   */
  off<K extends keyof StreamEventMap<O>>(k: K, fn: StreamEventMap<O>[K]): this {
    this.#pump.listeners.remove(k, fn)
    return this
  }

  /**
   * Ends the stream and stops the run. Every view rejects with AbortError. Resolves when the server has responded to
   * the stop request. Does nothing if the stream has ended.
   *
   * @example await stream.abort()
   */
  async abort(reason?: unknown): Promise<void> {
    this.#pump.stop('aborted', reason)
    await this.#pump.stopped
  }

  /**
   * Closes the stream without stopping the run. Returns the conversation's uuid, so that you can attach later.
   *
   * @example
   * const uuid = stream.detach()
   * if (uuid) await stet.runs.attach(uuid)
   */
  detach(): string | undefined {
    this.#pump.stop('detached')
    return this.conversationUuid
  }

  /**
   * Resolves when the response head arrives. Rejects if the server returns an error. In a proxy route, await
   * `withResponse()` before you respond.
   *
   * @example const { requestId } = await stream.withResponse()
   */
  withResponse(): Promise<{ stream: RunStream<O>; response: Response; requestId: string | null }> {
    const { head } = this.#seen()
    return quiet(head.promise.then(({ response }) => ({ stream: this, response, requestId: this.requestId })))
  }

  /**
   * Returns the events as SSE bytes with their ids, for a proxy route. By default, the page receives no messages,
   * configuration, prompt and version ids, tool arguments and results, or error messages. `expose` adds these parts.
   *
   * @example for await (const bytes of stream.toReadableStream()) response.write(bytes)
   */
  toReadableStream(o?: ForwardOptions): AsyncIterableStream<Uint8Array> {
    return readableOf(framed(this.#events(), o), () => bytesOf(': ping\n'))
  }

  /**
   * Returns an HTTP response that forwards the run to a page. The page receives the same data as with
   * `toReadableStream`.
   *
   * @example export const POST = async () => (await stet.prompts.stream('chat').withResponse()).stream.toResponse()
   */
  toResponse(init: ResponseInit & ForwardOptions = {}): Response {
    const headers = new Headers(init.headers)
    const defaults = {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
      ...(this.conversationUuid && { 'X-Conversation-Uuid': this.conversationUuid }),
    }
    for (const [name, value] of Object.entries(defaults)) if (!headers.has(name)) headers.set(name, value)
    return new Response(this.toReadableStream(init), { ...init, headers })
  }

  /**
   * Reads a run from a response, for example from a proxy route. A broken stream is not resumed.
   *
   * @example
   * const stream = RunStream.fromResponse(await fetch('/api/reply', { method: 'POST' }))
   * for await (const text of stream.textStream) show(text)
   */
  static fromResponse<O extends OutputKind = 'text'>(r: Response): RunStream<O> {
    return new RunStream<O>({
      async open() {
        const head = { response: r, text: '', method: 'GET', url: r.url, attempts: 1 }
        await requireEvents(head)
        return head
      },
    })
  }

  /** Lets `await using` abort a run that is still active. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort()
  }

  #seen(): RunPump<O> {
    this.#pump.isObserved = true
    return this.#pump
  }

  #events(): AsyncIterableIterator<StreamEvent> {
    return this.#seen().log.read(this.#first)
  }

  #derive<T>(view: (result: RunResult<O>) => T): Promise<T> {
    return quiet(this.finalResult().then(view))
  }
}

async function* growing(events: AsyncIterable<StreamEvent>): AsyncGenerator<unknown> {
  const { objectsOf } = await import('../views/partial-json.ts')
  yield* objectsOf(events)
}

async function* framed(
  events: AsyncIterable<StreamEvent>,
  o: ForwardOptions | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { framesOf } = await import('../views/frames.ts')
  for await (const frame of framesOf(events, o)) yield bytesOf(frame)
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
