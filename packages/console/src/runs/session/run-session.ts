/** The runs that this tab has started. They outlive the pane that shows them, so that a change of tab loses nothing. */
import { AbortError, type Message, NotFoundError, type RunStream } from '@stet/sdk'
import { noticeSignedOut, queryClient, stet } from '../../app/session.ts'
import {
  failRun,
  followEvent,
  isActive,
  joinRun,
  queueRun,
  type RunView,
  reopenRun,
  startedRun,
  stopRun,
} from '../follow-run.ts'
import { type KeptReply, keepReply, nothingTyped, readReply } from '../inputs/kept-inputs.ts'
import { EventBatch } from './event-batch.ts'
import { isUnsaid, type Round, storedRounds } from './rounds.ts'
import { leaveQueue, mayStream, releaseStream, takeStream } from './streams.ts'
import { ToolAnswers } from './tool-answers.ts'
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
/** The connection may be back within seconds. */
const stopRetries = 5
/** How often the page asks whether a run has ended that it has no stream for. */
const lookMs = 3000

type Stream = Pick<RunStream, 'on' | 'finalResult' | 'abort' | 'detach' | 'lastEventId'>

const sessions = new Map<string, RunSession>()

/** The runs of one prompt in this tab. The key is the same for the prompt in all versions. */
export function runSession(key: string): RunSession {
  return recall(sessions, key, () => new RunSession(key))
}

/** Returns what is known by a key, or makes it in place of the oldest that is not active. */
export function recall<T extends { isActive: boolean }>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key)
  if (found) return found
  for (const [old, { isActive }] of known) if (known.size >= sessionLimit && !isActive) known.delete(old)
  const made = make()
  known.set(key, made)
  return made
}

/** Whether a run of the prompt is active. */
export function isRunning(key: string): boolean {
  return sessions.get(key)?.isActive ?? false
}

export class RunSession {
  readonly #key: string | null
  #kept: KeptReply
  /** The run that the page's address asked for last. */
  #asked: string | undefined
  /** Each run that begins, and each stored run that is read, takes the turn. Answers that were asked for before are then late. */
  #turn: object = {}
  #isReading = false
  #rounds: readonly Round[] = []
  #outline: Round | undefined
  #stream: Stream | undefined
  readonly #events = new EventBatch((arrived) => {
    const view = this.#view
    if (view) this.#show(arrived.reduce((now, [event, at]) => followEvent(now, event, at), view))
  })
  readonly #tools = new ToolAnswers()

  /**
   * @param key of the prompt. With null, the tab keeps nothing: the run has its place in the address, and is shown
   * without the rest of its conversation.
   */
  constructor(key: string | null) {
    this.#key = key
    this.#kept = key === null ? nothingTyped : readReply(key)
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

  /** The reply and the tool results that are being written. */
  get kept(): KeptReply {
    return this.#kept
  }

  /** A stored run is being read. Nothing is shown yet. */
  get isReading(): boolean {
    return this.#isReading
  }

  get isActive(): boolean {
    const last = this.#rounds.at(-1)
    return last !== undefined && isActive(last.view)
  }

  /** Saves, then runs the prompt. Replaces what the pane shows. Does nothing while a run is active. */
  async run(request: RunRequest): Promise<void> {
    if (this.isActive || !mayStream()) return
    this.keep({ results: {} })
    const turn = this.#begin([], null)
    await this.#occupy(async () => {
      const { versionUuid } = await request.ready()
      // The user may have stopped meanwhile, and even have begun another run.
      if (this.#turn !== turn || !this.isActive) return undefined
      const { projectId, path, parameters, messages } = request
      return stet.prompts.stream<'text'>(path, {
        projectId,
        versionUuid,
        parameters,
        ...(messages.length > 0 && { messages: [...messages] }),
        resume,
        ...this.#tools.optionFor(request.tools),
      })
    })
  }

  /**
   * Shows a background run, which outlives the page.
   *
   * @param start resolves to the uuid of its conversation
   * @param onShown is called with it, unless another run has begun meanwhile
   */
  async runInBackground(start: () => Promise<string>, onShown: (uuid: string) => void): Promise<void> {
    const turn = this.#begin([], null)
    try {
      const uuid = await start()
      const isShown = this.#turn === turn
      if (isShown && this.#view) {
        this.#show({ ...this.#view, conversationUuid: uuid })
        onShown(uuid)
      }
      // The user may have stopped meanwhile.
      if (isShown && this.isActive) await this.#attach(uuid)
      else await stet.runs.stop(uuid, { maxRetries: stopRetries })
    } catch (error) {
      this.#fail(error, turn)
    }
  }

  /**
   * Continues the conversation with a message of the user. The message is also the reply, until the server has it.
   *
   * @param tools client tools whose results are entered in the pane
   */
  async chat(text: string, tools: readonly string[]): Promise<void> {
    const uuid = this.conversationUuid
    if (this.isActive || !uuid || !mayStream()) return
    this.keep({ reply: text })
    const last = this.#rounds.at(-1)
    this.#begin(last && isUnsaid(last) ? this.#rounds.slice(0, -1) : this.#rounds, text)
    await this.#occupy(() => {
      const stream = stet.prompts.chatStream(uuid, text, { resume, ...this.#tools.optionFor(tools) })
      stream.on('started', () => this.keep({ reply: '' }))
      return stream
    })
  }

  /** Joins the run again after the connection was lost for longer than the client tries by itself. */
  async rejoin(): Promise<void> {
    const uuid = this.conversationUuid
    const last = this.#rounds.at(-1)
    if (!uuid || !last?.view.trouble?.isLost) return
    if (!this.#stream) return this.#read(uuid)
    const { lastEventId } = this.#stream
    this.#show(reopenRun(last.view))
    await this.#attach(uuid, lastEventId)
  }

  /**
   * Shows the run of the page's address, or the one that this tab has shown last. Does nothing if the address asks for
   * the same run again, or while a run is active.
   *
   * @param uuid of a run, or of a conversation
   */
  async open(uuid: string | undefined): Promise<void> {
    const wanted = uuid ?? (this.#rounds.length === 0 ? this.#kept.conversationUuid : null)
    if (!wanted || wanted === this.#asked) return
    this.#asked = wanted
    if (!this.isActive && wanted !== this.conversationUuid) await this.#read(wanted)
  }

  async #read(uuid: string): Promise<void> {
    const turn = this.#takeTurn()
    this.#isReading = true
    this.#setRounds([])
    let rounds: readonly Round[]
    try {
      const { uuid: run, conversationUuid } = await stet.runs.get(uuid)
      const runs = await stet.runs.ofConversation(conversationUuid)
      const stored = runs.length > 1 && (await stet.conversations.get(conversationUuid))
      rounds = storedRounds(runs, stored ? stored.conversation : [])
      if (this.#key === null) rounds = rounds.filter((_, at) => runs[at]?.uuid === run)
    } catch (error) {
      noticeSignedOut(error)
      const trouble = troubleFrom(error)
      const isUnknown = error instanceof NotFoundError
      if (isUnknown) this.keep({ conversationUuid: null })
      const begun = { ...startedRun(performance.now()), conversationUuid: isUnknown ? null : uuid }
      rounds = [{ said: null, view: failRun(begun, { ...trouble, isLost: !isUnknown }, performance.now()) }]
    }
    if (this.#turn !== turn) return
    this.#isReading = false
    this.#stream = undefined
    this.#setRounds(rounds)
    const joined = this.conversationUuid
    if (this.isActive && joined) await this.#attach(joined)
  }

  /** Follows a run from its first event. Without a free stream, the run is followed at the latest when it has ended. */
  async #attach(uuid: string, lastEventId?: string): Promise<void> {
    const timer = setInterval(() => {
      if (document.hidden || this.#view?.phase !== 'queued') return
      stet.runs.get(uuid).then(({ endedAt }) => endedAt && leaveQueue(this), noticeSignedOut)
    }, lookMs)
    try {
      await this.#occupy(() => stet.runs.attachStream(uuid, { ...(lastEventId && { lastEventId }), resume }))
    } finally {
      clearInterval(timer)
    }
  }

  /** Stops the run. The received output stays. The final event then brings tokens and cost. */
  stop(): void {
    const view = this.#view
    if (!view || !isActive(view) || view.isStopping) return
    const stream = this.#stream
    const uuid = view.conversationUuid
    const giveUp = () => void stream?.abort()
    if (uuid) stet.runs.stop(uuid, { maxRetries: stopRetries }).catch(stream ? giveUp : noticeSignedOut)
    if (!stream) {
      leaveQueue(this)
      this.#show(stopRun(view, performance.now()))
      return
    }
    this.#show({ ...view, isStopping: true })
    // Without a connection there is no final event. Leave the stream, because the request above stops the run.
    if (!uuid) giveUp()
    else if (view.phase === 'reconnecting') stream.detach()
    else {
      const timer = setTimeout(giveUp, stopMs)
      stream.on('end', () => clearTimeout(timer))
    }
  }

  /**
   * Sends the result of a client tool, or the reason why the tool failed. The first result counts.
   *
   * @throws StetError if the result of a run that this page has joined could not be sent
   */
  async answerTool(id: string, result: unknown, isError: boolean): Promise<void> {
    await this.#tools.send(id, result, isError)
    const { [id]: _, ...results } = this.#kept.results
    this.keep({ results })
  }

  get #view(): RunView | undefined {
    return this.#rounds.at(-1)?.view
  }

  #takeTurn(): object {
    this.#turn = {}
    this.#isReading = false
    return this.#turn
  }

  #begin(before: readonly Round[], said: string | null): object {
    const turn = this.#takeTurn()
    this.#stream = undefined
    this.#events.clear()
    this.#tools.clear()
    const started = startedRun(performance.now())
    const view: RunView = said === null ? started : { ...started, phase: 'waiting' }
    this.#setRounds([...before, { said, view }])
    return turn
  }

  /** Waits for a free stream if others are open. The stream then starts with the events that arrived while it waited. */
  async #occupy(open: () => Stream | Promise<Stream | undefined>): Promise<void> {
    const turn = this.#turn
    this.#stream = undefined
    if (!mayStream() && this.#view) this.#show(queueRun(this.#view))
    const isTaken = await takeStream(this)
    // The run was stopped. One that has ended is read without a place: its stream ends at once.
    if (!isTaken && (this.#turn !== turn || this.#view?.phase !== 'queued')) return
    try {
      const stream = await open()
      if (stream) await this.#follow(stream)
    } catch (error) {
      this.#fail(error, turn)
    } finally {
      if (isTaken) releaseStream()
    }
  }

  async #follow(stream: Stream): Promise<void> {
    this.#stream = stream
    if (this.#view?.phase === 'saving') this.#show({ ...this.#view, phase: 'waiting' })
    stream.on('event', (event) => this.#events.add(event))
    stream.on('sdk', (data) => this.#events.add({ event: 'sdk', data }))
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
      this.#events.flush()
    }
  }

  #fail(error: unknown, turn: object): void {
    noticeSignedOut(error)
    const view = this.#view
    if (!view || this.#turn !== turn) return
    const now = performance.now()
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
      const { conversationUuid } = this
      if (conversationUuid && conversationUuid !== this.#kept.conversationUuid) this.keep({ conversationUuid })
    }
    announce()
  }

  /** Keeps text that is typed below the run over a reload. */
  keep(change: Partial<KeptReply>): void {
    this.#kept = { ...this.#kept, ...change }
    if (this.#key !== null) keepReply(this.#key, this.#kept)
  }
}

const resume = { maxAttempts: 6 }
