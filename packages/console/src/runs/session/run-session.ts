/** The runs that this tab has started. They outlive the pane that shows them, so that a change of tab loses nothing. */
import { AbortError, type Message, type RunStream, type StreamEvent, type ToolContext } from '@stet/sdk'
import { noticeSignedOut, queryClient, stet } from '../../app/session.ts'
import {
  failRun,
  followEvent,
  isActive,
  joinRun,
  queueRun,
  type RunView,
  reopenRun,
  type SdkEvent,
  startedRun,
  stopRun,
} from '../follow-run.ts'
import { earlierRounds } from './earlier-rounds.ts'
import { type KeptRun, keepRun, keptOf, knownCalls, readRun } from './kept-run.ts'
import { isUnsaid, type Round } from './round.ts'
import { leaveQueue, mayStream, releaseStream, takeStream } from './streams.ts'
import { troubleFrom } from './trouble-from.ts'
import { announce } from './watch-runs.ts'

export interface RunRequest {
  projectId: number
  path: string
  parameters: Record<string, unknown>
  /** Messages that follow those of the prompt. */
  messages: readonly Message[]
  /** Client tools whose results are entered in the pane. */
  tools: readonly string[]
  /** Saves the text and returns the version that has it. */
  ready: () => Promise<{ versionUuid: string }>
}

/** Runs shown beyond this number are forgotten, the oldest first. */
const sessionLimit = 20
/** Above any real duration of a stop, which the server answers within 2 s. */
const stopMs = 5000
/** Hidden tabs get no animation frames. */
const hiddenMs = 250
/** The connection may be back within seconds. */
const stopRetries = 5
/** The server itself gives up on a result after 5 minutes. */
const toolMs = 330_000

type Stream = Pick<RunStream, 'on' | 'finalResult' | 'abort' | 'detach' | 'lastEventId'>
type Arrived = [event: StreamEvent | SdkEvent, at: number]
interface Answer {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
}

const sessions = new Map<string, RunSession>()

/** The runs of one prompt in this tab. The key is the same for the prompt in all versions. */
export function runSession(key: string): RunSession {
  const known = sessions.get(key)
  if (known) return known
  for (const [old, session] of sessions) if (sessions.size >= sessionLimit && !session.isActive) sessions.delete(old)
  const session = new RunSession(key)
  sessions.set(key, session)
  return session
}

/** Whether a run of the prompt is active. */
export function isRunning(key: string): boolean {
  return sessions.get(key)?.isActive ?? false
}

export class RunSession {
  #reply = ''
  /** By the id of the tool call. */
  readonly #results = new Map<string, string>()
  readonly #key: string
  #rounds: readonly Round[] = []
  #outline: Round | undefined
  #stream: Stream | undefined
  #arrived: Arrived[] = []
  #cancelFlush: (() => void) | undefined
  #toolNames: readonly string[] = []
  readonly #answers = new Map<string, Answer>()
  /** The state from before the reload. Undefined once it has been restored. */
  #unread: KeptRun | undefined

  constructor(key: string) {
    this.#key = key
  }

  get rounds(): readonly Round[] {
    return this.#rounds
  }

  /** The last round as it was when its state changed last. Unlike `rounds`, it stays the same while words arrive. */
  get outline(): Round | undefined {
    return this.#outline
  }

  /** The conversation that a reply continues. A refused reply has none of its own. */
  get conversationUuid(): string | undefined {
    return this.#rounds.findLast(({ view }) => view.conversationUuid)?.view.conversationUuid ?? undefined
  }

  get isActive(): boolean {
    const last = this.#rounds.at(-1)
    return last !== undefined && isActive(last.view)
  }

  /** Saves, then runs the prompt. Replaces what the pane shows. Does nothing while a run is active. */
  async run(request: RunRequest): Promise<void> {
    if (this.isActive || !mayStream()) return
    this.#toolNames = request.tools
    this.#results.clear()
    this.#begin([], null)
    const round = this.#rounds[0]
    await this.#occupy(async () => {
      const { versionUuid } = await request.ready()
      // The user may have stopped meanwhile.
      if (this.#rounds[0] !== round || !this.isActive) return undefined
      const { projectId, path, parameters, messages } = request
      return stet.prompts.stream<'text'>(path, {
        projectId,
        versionUuid,
        parameters,
        ...(messages.length > 0 && { messages: [...messages] }),
        resume,
        ...this.#tools(),
      })
    })
  }

  /** Continues the conversation with a message of the user. */
  async chat(text: string): Promise<void> {
    const uuid = this.conversationUuid
    if (this.isActive || !uuid || !mayStream()) return
    this.#reply = ''
    const last = this.#rounds.at(-1)
    this.#begin(last && isUnsaid(last) ? this.#rounds.slice(0, -1) : this.#rounds, text)
    const tools = this.#tools()
    await this.#occupy(() => stet.prompts.chatStream(uuid, text, { resume, ...tools }))
  }

  /** Joins the run again after the connection was lost for longer than the client tries by itself. */
  async rejoin(): Promise<void> {
    const uuid = this.conversationUuid
    const last = this.#rounds.at(-1)
    if (!uuid || !last?.view.trouble?.isLost) return
    const lastEventId = this.#stream?.lastEventId
    this.#show(reopenRun(last.view))
    await this.#occupy(() => stet.runs.attachStream(uuid, { ...(lastEventId && { lastEventId }), resume }))
  }

  /**
   * Shows the conversation of the page before a reload. The events of its last run are read again, or followed if the
   * run is still active.
   */
  async resume(): Promise<void> {
    const kept = readRun(this.#key)
    if (!kept || this.#rounds.length > 0) return
    const { conversationUuid, said, tools, earlier, messagesBefore } = kept
    this.#reply = kept.reply
    if (!conversationUuid) return
    this.#toolNames = tools
    for (const [id, text] of Object.entries(kept.results)) this.#results.set(id, text)
    this.#unread = kept
    this.#setRounds([{ said, view: { ...viewOf(kept), ...(earlier.length === 0 && { messagesBefore }) } }])
    if (earlier.length > 0) {
      const stored = await stet.conversations.get(conversationUuid).catch(noticeSignedOut)
      if (stored) this.#unread = undefined
      if (stored) this.#setRounds([...earlierRounds(kept, stored.conversation), ...this.#rounds])
      if (!this.isActive) return
    } else this.#unread = undefined
    await this.#occupy(() => stet.runs.attachStream(conversationUuid, { resume }))
  }

  /** Stops the run. The received output stays. The final event then brings tokens and cost. */
  stop(): void {
    const view = this.#view
    if (!view || !isActive(view) || view.isStopping) return
    const stream = this.#stream
    const uuid = view.conversationUuid
    if (!stream) {
      if (uuid) stet.runs.stop(uuid, { maxRetries: stopRetries }).catch(noticeSignedOut)
      leaveQueue(this)
      this.#show(stopRun(view, performance.now()))
      return
    }
    this.#show({ ...view, isStopping: true })
    const giveUp = () => void stream.abort()
    if (!uuid) {
      giveUp()
      return
    }
    stet.runs.stop(uuid, { maxRetries: stopRetries }).catch(giveUp)
    if (view.phase === 'reconnecting') {
      // Without a connection there is no final event. Leave the stream, because the request above stops the run.
      stream.detach()
      return
    }
    const timer = setTimeout(giveUp, stopMs)
    stream.on('end', () => clearTimeout(timer))
  }

  /**
   * Sends the result of a client tool, or the reason why the tool failed. The first result counts.
   *
   * @throws StetError if the result of a run that this page has joined could not be sent
   */
  async answerTool(id: string, result: unknown, isError: boolean): Promise<void> {
    const answer = this.#answers.get(id)
    this.#answers.delete(id)
    // The client waits for results only in the stream that started the run.
    if (!answer) await stet.runs.toolResult({ toolCallId: id, result, isError })
    else if (isError) answer.reject(new Error(String(result)))
    else answer.resolve(result)
    this.#results.delete(id)
  }

  /** The result of a tool call that is being written. A reload keeps it. */
  result(id: string): string {
    return this.#results.get(id) ?? ''
  }

  writeResult(id: string, text: string): void {
    this.#results.set(id, text)
    this.#keep()
  }

  /** The reply that is being written. The field is not shown while a run is active. */
  get reply(): string {
    return this.#reply
  }

  writeReply(text: string): void {
    this.#reply = text
    this.#keep()
  }

  get #view(): RunView | undefined {
    return this.#rounds.at(-1)?.view
  }

  #begin(before: readonly Round[], said: string | null): void {
    this.#stream = undefined
    this.#arrived = []
    this.#unread = undefined
    this.#answers.clear()
    const started = startedRun(performance.now())
    const view: RunView = said === null ? started : { ...started, phase: 'waiting' }
    this.#setRounds([...before, { said, view }])
  }

  /** Waits for a free stream if others are open. The stream then starts with the events of the meantime. */
  async #occupy(open: () => Stream | Promise<Stream | undefined>): Promise<void> {
    this.#stream = undefined
    if (!mayStream() && this.#view) this.#show(queueRun(this.#view))
    if (!(await takeStream(this))) return
    try {
      const stream = await open()
      if (stream) await this.#follow(stream)
    } catch (error) {
      this.#fail(error)
    } finally {
      releaseStream()
    }
  }

  async #follow(stream: Stream): Promise<void> {
    this.#stream = stream
    if (this.#view?.phase === 'saving') this.#show({ ...this.#view, phase: 'waiting' })
    stream.on('event', (event) => this.#take(event))
    stream.on('sdk', (data) => this.#take({ event: 'sdk', data }))
    stream.on('started', (conversationUuid) => {
      if (this.#view) this.#show(joinRun(this.#view, conversationUuid))
      // The first steps tick off the first run.
      void queryClient.invalidateQueries({
        queryKey: ['project'],
        predicate: ({ queryKey }) => queryKey[2] === 'guide',
      })
    })
    try {
      await stream.finalResult()
    } finally {
      this.#flush()
    }
  }

  /** Collects events until the next animation frame, because the model may send many words in one. */
  #take(event: StreamEvent | SdkEvent): void {
    this.#arrived.push([event, performance.now()])
    if (this.#cancelFlush) return
    const flush = () => this.#flush()
    const frame = requestAnimationFrame(flush)
    const timer = setTimeout(flush, hiddenMs)
    this.#cancelFlush = () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }

  #flush(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = undefined
    const arrived = this.#arrived
    this.#arrived = []
    const view = this.#view
    if (view && arrived.length > 0) this.#show(arrived.reduce((now, [event, at]) => followEvent(now, event, at), view))
    // Only this page has the times of a call: the server does not store them.
    if (arrived.some(([{ data }]) => callEvents.has(data.type))) this.#keep()
  }

  #fail(error: unknown): void {
    noticeSignedOut(error)
    const view = this.#view
    if (!view) return
    const now = performance.now()
    const last = this.#rounds.at(-1)
    if (last && isUnsaid(last)) this.#reply = last.said ?? ''
    this.#show(error instanceof AbortError ? stopRun(view, now) : failRun(view, troubleFrom(error), now))
  }

  #show(view: RunView): void {
    const before = this.#rounds.at(-1)
    if (!before || before.view === view) return
    this.#setRounds([...this.#rounds.slice(0, -1), { ...before, view }])
  }

  #setRounds(rounds: readonly Round[]): void {
    const last = rounds.at(-1)
    const isSame =
      rounds.length === this.#rounds.length &&
      (['phase', 'isStopping', 'trouble', 'conversationUuid'] as const).every(
        (key) => last?.view[key] === this.#outline?.view[key],
      )
    this.#rounds = rounds
    if (!isSame) {
      this.#outline = last
      this.#keep()
    }
    announce()
  }

  #keep(): void {
    const written = { tools: this.#toolNames, results: Object.fromEntries(this.#results), reply: this.#reply }
    keepRun(this.#key, this.#unread ? { ...this.#unread, ...written } : keptOf(this.#rounds, written))
  }

  /** Makes the run wait for its client tools until their results are entered. */
  #tools() {
    const names = this.#toolNames
    if (names.length === 0) return {}
    const execute = (_: unknown, { id, signal }: ToolContext) =>
      new Promise<unknown>((resolve, reject) => {
        this.#answers.set(id, { resolve, reject })
        signal.addEventListener('abort', () => this.#answers.delete(id))
      })
    return { tools: Object.fromEntries(names.map((name) => [name, { input: unchecked, execute, timeout: toolMs }])) }
  }
}

/** The last run as it is before its events are read again. */
function viewOf(kept: KeptRun): RunView {
  const { conversationUuid, startedAt, firstTokenMs, durationMs } = kept
  return {
    ...startedRun(startedAt - performance.timeOrigin),
    conversationUuid,
    firstTokenMs,
    durationMs,
    knownCalls: knownCalls(kept),
    phase: firstTokenMs === null ? 'waiting' : 'streaming',
  }
}

const callEvents = new Set<string>(['tool-call', 'tool-result', 'tool-error'])
const resume = { maxAttempts: 6 }
/** A schema that accepts everything: the person who answers reads the arguments. */
const unchecked = { '~standard': { version: 1, vendor: 'stet', validate: (value: unknown) => ({ value }) } } as const
