import type { ConversationOrigin, RunErrorCode } from '@stet/contract/vocabulary'
import type { RunError } from '../../shared/app-error.ts'
import type { Claim } from '../idempotency/ports.ts'
import type { ProviderErrorKind } from '../providers/provider-error.ts'
import type { Usage } from '../providers/usage.ts'
import type { Message, ToolCall } from '../templates/message.ts'
import type { RunEvent } from './events/run-event.ts'
import type { EncodedResponse, PromptInput, RunSource, RunStatus, StepResponse } from './run.ts'
import type { ServerTools, ToolCallStore, ToolSignals } from './tools/tool.ts'

export interface RunSettings {
  instanceId: string
  /** How long a foreground run continues without a reader; 0 stops it immediately. */
  graceMs: number
  runTimeoutMs: number
  maxEvents: number
  maxEventBytes: number
  toolWaitMs: number
  /** How long a stop request waits for the end of the run. */
  stopWaitMs: number
  /** How long a finished run waits for an unavailable database before it is abandoned. */
  storeWaitMs: number
  /** True if other processes may own runs in the same database. The lease is then renewed even without runs. */
  sharesDatabase: boolean
  /** Days to keep ended conversations in projects without their own value; 0 = forever. */
  retentionDays: number
  eventRetentionMs: number
}

export type { ConversationOrigin }

export interface NewConversation {
  uuid: string
  workspaceId: number
  projectId: number
  versionUuid: string
  documentUuid: string
  path: string
  contentHash: string
  customIdentifier: string | null
  origin: ConversationOrigin
  /** Effective configuration, which later chats use. */
  config: Record<string, unknown>
  createdAt: Date
}

export interface NewRun {
  uuid: string
  conversationUuid: string
  workspaceId: number
  ownerId: string
  /** The epoch that this run takes: 1 for the first run, the conversation's next epoch for a chat. */
  epoch: number
  firstEventId: number
  createdAt: Date
}

export interface NewQueuedRun extends Omit<NewRun, 'ownerId'> {
  apiKeyId: number
  input: PromptInput
}

export interface QueuedRun {
  runUuid: string
  apiKeyId: number
}

/** The terminal event without its messages. */
export interface StoredRunResult {
  response?: StepResponse
  toolRequests: ToolCall[]
  tokenUsage: Usage
  cost: number
  costUnknown: boolean
  /** The last provider-completed event, for reads after the event log was dropped. */
  completed?: { eventId: number; covers: number }
  /** The number of messages when the run ended. Later runs add more. */
  covers?: number
  error?: { code: RunErrorCode; message: string; details: Record<string, unknown> }
}

/** The end of a run, written by compare-and-set on (run, epoch, state). */
export interface RunEnd {
  runUuid: string
  conversationUuid: string
  epoch: number
  /** A queued run can be stopped before it starts. */
  from: 'queued' | 'running'
  /** The conversation's next epoch. An owner keeps it; a reaper raises it. */
  epochAfter: number
  status: Exclude<RunStatus, 'queued' | 'running'>
  messages: Message[]
  lastEventId: number
  result: StoredRunResult
  eventLog: Uint8Array
  endedAt: Date
}

export interface StoredRun {
  uuid: string
  status: RunStatus
  epoch: number
  firstEventId: number
  lastEventId: number | null
  result: StoredRunResult | null
  stopRequestedAt: Date | null
  createdAt: Date
  endedAt: Date | null
}

export interface StoredConversation extends NewConversation {
  messages: Message[]
  status: RunStatus
  epoch: number
  lastEventId: number
  updatedAt: Date
  /** Null for a conversation that never ran. */
  latestRun: StoredRun | null
}

/** Every write resolves after its commit. */
export interface RunStore {
  /** Stores a conversation and its first run. Returns false and stores nothing if the idempotency record exists. */
  create(conversation: NewConversation, run: NewRun | NewQueuedRun, claim?: Claim | undefined): Promise<boolean>
  /** @throws AppError ServiceUnavailableError while the server is read-only. */
  assertOpen(): void
  /** True if no write has succeeded recently. A run must then be stored before its provider is called. */
  isStorageInDoubt(): boolean
  /**
   * Starts a conversation's next run. Returns false if another run took the epoch or is active, or if its idempotency
   * record exists.
   * @param added the run's first messages. They are stored with it, so they survive every kind of end.
   */
  createNext(run: NewRun, added: readonly Message[], claim?: Claim | undefined): Promise<boolean>
  /** Lists queued runs in creation order. */
  listQueued(): Promise<QueuedRun[]>
  findQueued(runUuid: string): Promise<{ conversation: StoredConversation; input: PromptInput } | null>
  /** Returns the input of a run that was queued, until the run ends. Returns null for other runs. */
  findInput(runUuid: string): Promise<PromptInput | null>
  /**
   * Claims a queued run. Returns false if another owner claimed it or a stop was requested.
   * @param isRepeat the response to the same claim was lost, so the claim may have succeeded.
   */
  startQueued(run: NewRun, isRepeat: boolean): Promise<boolean>
  /** Records a stop request. Returns false if the run has ended or already has one. */
  requestStop(runUuid: string): Promise<boolean>
  /** Returns false and writes nothing if this owner has lost the run. */
  end(end: RunEnd): Promise<boolean>
  findConversation(workspaceId: number, uuid: string): Promise<StoredConversation | null>
  /** Returns the conversation as of that run, which is its `latestRun`. */
  findRun(workspaceId: number, runUuid: string): Promise<StoredConversation | null>
  /** Lists conversations with an orphaned run: `running`, and its owner's lease has expired. */
  listOrphaned(ownerId: string): Promise<StoredConversation[]>
  findEventLog(workspaceId: number, runUuid: string): Promise<Uint8Array | null>
  /** Drops one batch of event logs of runs that ended in `[from, before)`. Returns their number. */
  dropEventLogs(from: Date, before: Date): Promise<number>
}

/** The leases of processes, by the database clock. */
export interface LeaseStore {
  /** Renews the lease of `ownerId`. Returns its running runs that have a stop request. */
  renew(ownerId: string, leaseMs: number): Promise<string[]>
  /** Ends the lease when the process ends. Its remaining runs are orphaned immediately. */
  release(ownerId: string): Promise<void>
  /** For a database with a single process, where every other lease belongs to a dead process. */
  endAll(): Promise<void>
}

/** This server's queued runs, in order. Their rows are the durable copy. */
export interface RunQueue {
  /** Reserves a place for the API key. Returns false if the key is at its limit. */
  reserve(runUuid: string, apiKeyId: number): boolean
  /** Makes a stored run ready to start. Works without a reservation. A run that is already queued keeps its place. */
  add(run: QueuedRun): void
  remove(runUuid: string): void
  /** Starts the workers. `start` resolves when its run no longer occupies a worker. */
  work(start: (runUuid: string) => Promise<void>): void
  stop(): void
}

/** Wakes a run's owner. An early signal waits for its listener. */
export interface RunSignals {
  stop(runUuid: string): void
  onStop(runUuid: string, hear: () => void): () => void
}

/** A message encoded for current readers (`whole`) and legacy clients (`declared`). Equal texts are shared. */
export interface EncodedMessage {
  whole: string
  declared: string
}

/** A piece of an event's text: a literal, or the conversation's messages `[from, to)`, joined by commas. */
export type EventPiece = string | readonly [from: number, to: number]

/** One recorded event: plain text, or pieces if it is large or includes messages. */
export interface LogEntry {
  id: number
  pieces: string | readonly EventPiece[]
  /** Pieces for legacy clients, if they differ in more than the messages. */
  declaredPieces?: readonly EventPiece[]
  /** True if legacy clients do not get this event. */
  isUndeclaredOnly?: true
}

/** Adjacent provider-events of a stored event log, as the exact bytes of their frames. */
export interface StoredFrames {
  /** The first event's id. Ids up to `lastId` have no gap. */
  id: number
  lastId: number
  bytes: Buffer
}

/** The kind of reader: legacy clients get only messages and events that their models accept. */
export type MessageForm = keyof EncodedMessage

/** Encodes runs for readers and for storage. Features pass its output on without reading it. */
export interface EventCodec {
  encodeMessage(message: Message): EncodedMessage
  encodeResponse(response: StepResponse, conversationUuid: string): EncodedResponse
  /** @param run the conversation's uuid, and the document and version for every event. */
  encodeEvent(event: RunEvent, id: number, at: Date, run: RunSource & { uuid: string }): LogEntry
  /** The size in UTF-8 bytes, without messages that the entry refers to by position. */
  bytesOf(entry: LogEntry): number
  /** Adds an entry's frame, or stored frames. Adds nothing for an entry that is hidden from this form. */
  addFrame(
    into: (string | Buffer)[],
    entry: LogEntry | StoredFrames,
    messages: readonly EncodedMessage[],
    form: MessageForm,
  ): void
  packEventLog(messages: readonly EncodedMessage[], entries: readonly LogEntry[]): Promise<Uint8Array>
  /** Returns null for an obsolete format. */
  unpackEventLog(file: Uint8Array): Promise<StoredLog | null>
  entriesAfter(log: StoredLog, afterId: number): readonly (LogEntry | StoredFrames)[]
}

/** A reader's position in an event log. It counts as a reader of the run until its release. */
export interface RunLogReader {
  readonly messages: readonly EncodedMessage[]
  /** Returns at most `limit` entries and moves the position. */
  take(limit: number): readonly (LogEntry | StoredFrames)[]
  /** Resolves on new entries, at the end of the log, or after `release`. */
  changed(): Promise<void>
  /** Calls `hear` synchronously after every append and at the end of the log. */
  listen(hear: () => void): void
  /** True once the log has ended and everything was taken. */
  isAtEnd(): boolean
  isCallerAwaited(): boolean
  release(): void
}

/** Only the run's owner writes. */
export interface RunLogWriter {
  append(messages: readonly EncodedMessage[], entries: readonly LogEntry[]): void
  setCallerAwaited(isAwaited: boolean): void
  /** Readers end after the existing events. */
  close(): void
  readonly messages: readonly EncodedMessage[]
  readonly entries: readonly LogEntry[]
}

/** The live events of runs, kept for a minute after their end. */
export interface RunEventLog {
  /** Registers a queued run, so that its readers wait for the first event. */
  expect(runUuid: string): void
  /** Releases the readers of a run that will not start here. An open log stays. */
  forget(runUuid: string): void
  /** Drops an ended run's log. Existing readers keep it. */
  drop(runUuid: string): void
  /** @param onListeners called with the number of readers whenever it changes. */
  open(runUuid: string, onListeners: (count: number) => void): RunLogWriter
  /** Returns the events after `afterId`, then live ones. Returns undefined if this process does not have the log. */
  follow(runUuid: string, afterId: number): RunLogReader | undefined
}

export interface StoredLog {
  messages: readonly EncodedMessage[]
  entries: readonly (LogEntry | StoredFrames)[]
}

export interface StoredLogs {
  /** Returns null if the event log was dropped or is unreadable. Readers share it while any of them references it. */
  open(workspaceId: number, runUuid: string): Promise<StoredLog | null>
}

export interface ActiveRun {
  runUuid: string
  conversationUuid: string
  workspaceId: number
  view(): StoredConversation
  /** Settles when this process no longer supervises the run. */
  ended: Promise<unknown>
  abort(reason: RunError): void
}

export interface QueuedHere {
  conversation: StoredConversation
  /** The run's input as JSON. */
  input: string
}

export type AbandonedRun = Pick<ActiveRun, 'runUuid' | 'conversationUuid' | 'workspaceId'>

export interface ActiveRuns {
  add(run: ActiveRun): void
  /** @param outcome the stored conversation; undefined if nothing was stored here. */
  remove(run: Pick<ActiveRun, 'runUuid' | 'conversationUuid'>, outcome: StoredConversation | undefined): void
  /** Registers a run whose end could not be stored. The reaper ends it. */
  abandon(run: AbandonedRun): void
  takeAbandoned(): AbandonedRun[]
  find(workspaceId: number, conversationUuid: string): ActiveRun | undefined
  /** Finds a conversation that was recently queued or ended here. */
  findIdle(workspaceId: number, conversationUuid: string): StoredConversation | undefined
  /** @param isAlone if no other process changes the row, the conversation is read from memory until the run starts. */
  rememberQueued(runUuid: string, queued: QueuedHere, isAlone: boolean): void
  /** Returns a run only once. If its row differs, the row is right. */
  takeQueued(runUuid: string): QueuedHere | undefined
  /** Drops the cached conversation, because its next run has started. */
  forget(conversationUuid: string): void
  /** Drops all cached conversations, because another server may have continued them. */
  forgetAll(): void
  list(): ActiveRun[]
}

export interface EndedModelCall {
  provider: string
  model: string
  outcome: 'completed' | 'aborted' | 'failed' | ProviderErrorKind
  seconds: number
  /** Undefined for a plain response, or if no text arrived. */
  firstTextSeconds: number | undefined
  usage: Usage | undefined
}

export interface RunMetrics {
  runEnded(status: RunEnd['status'], seconds: number): void
  modelCallEnded(call: EndedModelCall): void
}

export interface RunDeps {
  /** Not part of `stores`, because run rows are written in group commits. */
  store: RunStore
  queue: RunQueue
  signals: RunSignals
  leases: LeaseStore
  eventLog: RunEventLog
  storedLogs: StoredLogs
  codec: EventCodec
  active: ActiveRuns
  metrics: RunMetrics
  settings: RunSettings
  toolCalls: ToolCallStore
  toolSignals: ToolSignals
  serverTools: ServerTools
}
