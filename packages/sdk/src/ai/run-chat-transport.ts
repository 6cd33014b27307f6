import { openRun } from '../browser/index.ts'
import { type AsyncIterableStream, NotFoundError, type RunStream, StreamInterruptedError } from '../index.ts'
import { toUIMessageStream } from './ui-message-stream.ts'

// The chunk type of the AI SDK, which this package does not import.
// biome-ignore lint/suspicious/noExplicitAny: the chunks fit every version's type
type Chunks = AsyncIterableStream<any>

/** The routes that a transport calls, and where it remembers the active runs. */
export interface RunChatTransportOptions {
  /** Starts or continues a conversation, and responds with `stream.toResponse()`. Default: `/api/chat`. */
  api?: string
  /** Attaches to a run. Default: `api` and `/attach`. */
  attachUrl?: string
  /** Stops a run. Default: `api` and `/stop`. */
  stopUrl?: string
  headers?: Record<string, string>
  credentials?: RequestCredentials
  /** Default: the page's `sessionStorage`, so that a reloaded tab finds its run. */
  storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
}

/** A message of the AI SDK. */
interface Shown {
  role: string
  parts: readonly unknown[]
  metadata?: unknown
}

interface Call {
  chatId: string
  abortSignal?: AbortSignal | undefined
  headers?: Record<string, string> | Headers | undefined
  body?: object | undefined
}

/**
 * A `ChatTransport` for `useChat` of the AI SDK. A broken connection is resumed where it broke, and a reloaded page
 * attaches to its run (`resume: true`). The route receives `text`, the new message of the user, `conversationUuid`
 * except for the first message, and what `useChat` sends: `id`, `messages`, `trigger` and `messageId`.
 *
 * @example
 * const transport = new RunChatTransport({ api: '/api/chat' })
 * // in a component: const { messages, sendMessage, stop } = useChat({ id: 'support', transport, resume: true })
 */
export class RunChatTransport {
  /** An attached page gets the whole response again, so the AI SDK starts its message anew. */
  readonly resumeStreamIsReplay = true
  readonly #o: RunChatTransportOptions

  constructor(options: RunChatTransportOptions = {}) {
    this.#o = options
  }

  /**
   * Called by `useChat`. Posts the new message and returns the response.
   *
   * @example const chunks = await transport.sendMessages({ trigger: 'submit-message', chatId: 'support', messageId: undefined, messages: [], abortSignal: undefined })
   */
  async sendMessages(
    call: Call & { trigger: string; messageId: string | undefined; messages: readonly Shown[] },
  ): Promise<Chunks> {
    const { chatId: id, trigger, messageId, messages, body } = call
    const conversationUuid = messages.map(uuidOf).findLast((uuid) => uuid !== undefined)
    const text = textOf(messages.findLast(({ role }) => role === 'user'))
    return this.#read(this.#api, call, { ...body, id, messages, trigger, messageId, text, conversationUuid })
  }

  /**
   * Called by `useChat` with `resume: true`. Resolves to null if the chat has no active run.
   *
   * @example const chunks = await transport.reconnectToStream({ chatId: 'support' })
   */
  async reconnectToStream(call: Call): Promise<Chunks | null> {
    const conversationUuid = this.#storage?.getItem(keyOf(call))
    if (!conversationUuid) return null
    try {
      return await this.#read(this.#attachUrl, call, { ...call.body, conversationUuid })
    } catch (error) {
      this.#storage?.removeItem(keyOf(call))
      if (error instanceof NotFoundError) return null
      throw error
    }
  }

  get #api(): string {
    return this.#o.api ?? '/api/chat'
  }

  get #attachUrl(): string {
    return this.#o.attachUrl ?? `${this.#api}/attach`
  }

  get #storage(): RunChatTransportOptions['storage'] {
    return this.#o.storage ?? (globalThis as { sessionStorage?: Storage }).sessionStorage
  }

  async #read(url: string, call: Call, body: object): Promise<Chunks> {
    const { credentials } = this.#o
    const headers = { ...this.#o.headers, ...Object.fromEntries(new Headers(call.headers)) }
    const request = { headers, ...(credentials && { credentials }) }
    const run = openRun(url, { ...request, body, attachUrl: this.#attachUrl })
    // Only a person who stops the chat aborts this signal. A closed tab does not, so its run can be attached to.
    call.abortSignal?.addEventListener('abort', () => this.#stop(run, request), { once: true })
    const key = keyOf(call)
    const forget = () => this.#storage?.removeItem(key)
    run.once('started', (uuid) => this.#storage?.setItem(key, uuid))
    run.once('finished', forget)
    // After a lost connection the run may still be active, and a reloaded page can attach to it.
    run.once('error', (error) => !(error instanceof StreamInterruptedError) && forget())
    await run.withResponse()
    return toUIMessageStream(run)
  }

  #stop(run: RunStream, request: { headers: Record<string, string>; credentials?: RequestCredentials }): void {
    const conversationUuid = run.detach()
    if (conversationUuid === undefined) return
    const headers = { ...request.headers, 'Content-Type': 'application/json' }
    const init = { ...request, method: 'POST', headers, body: JSON.stringify({ conversationUuid }) }
    // The page shows the chat as stopped in any case.
    fetch(this.#o.stopUrl ?? `${this.#api}/stop`, init).catch(() => {})
  }
}

function keyOf({ chatId }: Call): string {
  return `stet-run-${chatId}`
}

function uuidOf({ metadata }: Shown): string | undefined {
  return (metadata as { conversationUuid?: string } | undefined)?.conversationUuid
}

function textOf(message: Shown | undefined): string {
  return (message?.parts ?? []).map((part) => (part as { text?: string }).text ?? '').join('')
}
