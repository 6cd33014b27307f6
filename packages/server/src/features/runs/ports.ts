import type {
  ConversationOrigin,
  Message,
  ParametersState,
  RequestChannel,
  RunErrorCode,
  RunMode,
  RunOverrides,
  ToolCall,
} from '@stet/contract/vocabulary'
import type { Span } from '../../shared/telemetry.ts'
import type { Claim, ClaimedRun } from '../idempotency/ports.ts'
import type { ProviderErrorKind } from '../providers/provider-error.ts'
import type { Usage } from '../providers/usage.ts'
import type {
  EncodedResponse,
  QueuedInput,
  RunEvent,
  RunFacts,
  RunFigures,
  RunSource,
  RunSpending,
  RunStatus,
  StepResponse,
} from './run.ts'

export interface RunSettings {
  instanceId: string
  /** How long a foreground run continues without a reader; 0 cancels the run immediately. */
  graceMs: number
  runTimeoutMs: number
  maxEvents: number
  maxEventBytes: number
  toolWaitMs: number
  /** How long a stop request waits for the end of the run. */
  stopWaitMs: number
  /** How long storing a run's end, or claiming a queued run, is retried while the database is unavailable. */
  storeWaitMs: number
  /** True if other processes may own runs in the same database. The lease is then renewed even without runs. */
  sharesDatabase: boolean
  lease: LeaseTimes
  /** Days to keep ended conversations in projects without their own value; 0 = forever. */
  retentionDays: number
  /** Whether runs keep their parameters, in projects without their own value. */
  keepParameters: boolean
  eventRetentionMs: number
}

export interface LeaseTimes {
  /** How long a process counts as alive after a renewal. */
  leaseMs: number
  renewEveryMs: number
  reapEveryMs: number
}

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
  via: RequestChannel
  /** The effective configuration. Later chats use it. */
  config: Record<string, unknown>
  createdAt: Date
  /** The messages that a conversation takes over from another one. */
  messages?: Message[]
  /** Of a judge: the conversation whose answer it reads. */
  judgedUuid?: string
}

export interface NewRun {
  uuid: string
  conversationUuid: string
  workspaceId: number
  ownerId: string
  /** A new conversation starts with epoch 1. A chat, or the claim of a queued run, takes the next epoch. */
  epoch: number
  firstEventId: number
  via: RequestChannel
  createdAt: Date
}

/** How a run was started. Its row keeps it. */
export interface RunStart {
  mode: RunMode
  apiKeyId: number
  authorId: number
  parameters: KeptParameters
  overrides?: RunOverrides | undefined
  /** What the caller asked for, as JSON. Null for runs of API v3. */
  request?: string | undefined
  /** Tags of the conversation that the run starts, without duplicates. */
  tags?: readonly string[] | undefined
}

export interface KeptParameters {
  /** The values as the caller gave them, as JSON. Null unless they are kept. */
  text: string | null
  state: ParametersState
}

export interface NewQueuedRun extends Omit<NewRun, 'ownerId'>, RunStart {
  input: QueuedInput
}

export interface QueuedRun {
  runUuid: string
  apiKeyId: number
}

/** A run's result without messages. The terminal event can be rebuilt from this result. */
export interface StoredRunResult extends RunSpending {
  response?: StepResponse
  toolRequests: ToolCall[]
  /** Identifies the last `provider-completed` event, for reads after the event log was dropped. */
  completed?: { eventId: number; covers: number }
  /** The number of messages when the run ended. Later runs add more. */
  covers?: number
  error?: { code: RunErrorCode; message: string; details: Record<string, unknown> }
}

/** The end of a run, written by compare-and-set on (run, epoch, state). */
export interface RunEnd extends ClaimedRun {
  workspaceId: number
  epoch: number
  /** The expected state. A queued run can be stopped before it starts. */
  from: 'queued' | 'running'
  /** The conversation's epoch after the end. Only a reaper takes the next epoch. */
  epochAfter: number
  status: Exclude<RunStatus, 'queued' | 'running'>
  messages: Message[]
  lastEventId: number
  result: StoredRunResult
  eventLog: Uint8Array
  figures: RunFigures
  endedAt: Date
}

export interface StoredRun extends Pick<NewRun, 'uuid' | 'epoch' | 'firstEventId' | 'createdAt'> {
  status: RunStatus
  lastEventId: number | null
  result: StoredRunResult | null
  stopRequestedAt: Date | null
  /** The place of the caller's messages in the conversation. Null until the run's end, and if there are none. */
  givenFrom: number | null
  givenCount: number | null
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

/** Every write resolves after its commit. With a `span`, the commit becomes a child of that span. */
export interface RunStore {
  /** Stores a conversation and its first run. Returns false and stores nothing if the idempotency record exists. */
  create(
    conversation: NewConversation,
    run: (NewRun & RunStart) | NewQueuedRun,
    claim?: Claim | undefined,
    span?: Span | undefined,
  ): Promise<boolean>
  /** @throws AppError ServiceUnavailableError while the server is read-only. */
  assertOpen(): void
  /** True if no write has succeeded recently or the latest one failed. Runs must then be stored before a model call. */
  isStorageInDoubt(): boolean
  /**
   * Starts or queues a conversation's next run. Returns false if another run took the epoch or is active, if the conversation was
   * deleted, or if the idempotency record exists.
   * @param added the run's first messages. They are stored with the run, so they survive every kind of end.
   */
  createNext(
    run: (NewRun & RunStart) | NewQueuedRun,
    added: readonly Message[],
    claim?: Claim | undefined,
    span?: Span | undefined,
  ): Promise<boolean>
  /** Lists queued runs in creation order. */
  listQueued(): Promise<QueuedRun[]>
  countQueued(apiKeyId: number): Promise<number>
  /** Counts the active runs of experiments and judges, and the processes that are alive. */
  countItems(): Promise<{ active: number; processes: number }>
  findQueued(runUuid: string): Promise<{ conversation: StoredConversation; input: QueuedInput } | null>
  /** Returns the input of a run that was queued, until the run ends. Returns null for other runs. */
  findInput(runUuid: string): Promise<QueuedInput | null>
  /**
   * Claims a queued run. Returns false if another owner claimed it or a stop was requested.
   * @param isRepeat true if the response to an earlier attempt was lost. That attempt may have succeeded.
   */
  startQueued(run: NewRun, isRepeat: boolean, span?: Span | undefined): Promise<boolean>
  /** Records a stop request. Returns false if the run has ended or already has a stop request. */
  requestStop(workspaceId: number, runUuid: string): Promise<boolean>
  /** Returns false and writes nothing if the run's epoch or state has changed. An owner may repeat a successful end. */
  end(end: RunEnd, span?: Span | undefined): Promise<boolean>
  findConversation(workspaceId: number, uuid: string): Promise<StoredConversation | null>
  /** Returns the conversation as it was after that run. `latestRun` is that run. */
  findRun(workspaceId: number, runUuid: string): Promise<StoredConversation | null>
  /** Returns what the caller of a run asked for, as JSON. Null if nothing was kept. */
  findRequest(workspaceId: number, runUuid: string): Promise<string | null>
  /** Returns null for an unknown or deleted run. */
  findRunStatus(workspaceId: number, runUuid: string): Promise<RunStatus | null>
  /** Lists conversations with an orphaned run: `running`, and the owner has no valid lease. Skips runs of `ownerId`. */
  listOrphaned(ownerId: string): Promise<StoredConversation[]>
  /** Stores the event log of a running run. Does nothing after the run's end, or after another owner took it. */
  saveEventLog(run: Pick<NewRun, 'uuid' | 'epoch'>, eventLog: Uint8Array): Promise<void>
  findEventLog(workspaceId: number, runUuid: string): Promise<Uint8Array | null>
  /** Drops one batch of event logs of runs that ended in `[from, before)`. Returns the number of dropped event logs. */
  dropEventLogs(from: Date, before: Date): Promise<number>
}

/** The leases of processes, by the database clock. */
export interface LeaseStore {
  /** Renews the lease of `ownerId`. Returns the uuids of the owner's running runs with a stop request. */
  renew(ownerId: string, leaseMs: number): Promise<string[]>
  /** Ends the owner's lease. The owner's remaining runs are orphaned immediately. */
  release(ownerId: string): Promise<void>
  /** Ends all leases. Only for a database with a single process, where existing leases belong to dead processes. */
  endAll(): Promise<void>
}

/** This server's queued runs, in order. The rows of the runs are the durable copy. */
export interface RunQueue {
  /**
   * Reserves a place for the run. Returns false if the API key already has its maximum of queued runs.
   * @throws AppError ServiceUnavailableError while the queue is unavailable.
   */
  reserve(runUuid: string, apiKeyId: number): Promise<boolean>
  /** Makes a stored run ready to start. A reserved or queued run keeps its place. A started run is ignored. */
  add(run: QueuedRun): void
  remove(runUuid: string): void
  /** Starts queued runs, up to the number of workers. A run occupies a worker until its `start` settles. */
  work(start: (runUuid: string) => Promise<void>): void
  /** Starts no further runs. Resolves when no run is about to start. */
  stop(): Promise<void>
  /** The number of runs that wait for a worker, of all servers that share the queue. */
  depth(): number | Promise<number>
}

/** Delivers stop signals to a run's owner. A signal without a listener is kept for a minute. */
export interface RunSignals {
  stop(runUuid: string): void
  onStop(runUuid: string, listener: () => void): () => void
}

/** A piece of an event's text: a literal, or the conversation's messages `[from, to)`, joined by commas. */
export type EventPiece = string | readonly [from: number, to: number]

/** One recorded event: plain text, or pieces if it is large or includes messages. */
export interface LogEntry {
  id: number
  pieces: string | readonly EventPiece[]
}

/** Adjacent provider-events of a stored event log, as the exact bytes of their frames. */
export interface StoredFrames {
  /** The first event's id. Ids up to `lastId` have no gap. */
  id: number
  lastId: number
  bytes: Buffer
}

/** Adds an entry's frame, or stored frames, to `into`. Adds nothing for an event that the reader does not accept. */
export type AddFrame = (into: (string | Buffer)[], entry: LogEntry | StoredFrames, messages: readonly string[]) => void

/** Encodes runs for readers and for storage. */
export interface EventCodec {
  encodeMessage(message: Message): string
  encodeResponse(response: StepResponse, conversationUuid: string): EncodedResponse
  /** @param run the conversation's uuid and source. Every `latitude-event` contains both. */
  encodeEvent(event: RunEvent, id: number, at: Date, run: RunSource & { uuid: string }): LogEntry
  /** Returns the size in UTF-8 bytes, without messages that the entry refers to by position. */
  bytesOf(entry: LogEntry): number
  packEventLog(log: StoredLog): Promise<Uint8Array>
  /** Returns null for an unknown format. */
  unpackEventLog(file: Uint8Array): Promise<StoredLog | null>
  entriesAfter(log: StoredLog, afterId: number): readonly (LogEntry | StoredFrames)[]
}

/** A reader of an event log. Counts as a reader of the run until `release`. */
export interface RunLogReader {
  readonly messages: readonly string[]
  /** Returns the next entries, at most `limit`. */
  take(limit: number): readonly (LogEntry | StoredFrames)[]
  /** Resolves when there are new entries, when the event log has ended, or after `release`. */
  changed(): Promise<void>
  /** Calls `listener` synchronously after every append and when the event log ends. `listener` must not block. */
  listen(listener: () => void): void
  /** True once the event log has ended and all entries were taken. */
  isAtEnd(): boolean
  /** True while the run waits for the caller's tool result. Legacy clients do not read during the tool call. */
  isCallerAwaited(): boolean
  release(): void
}

/** Only one process writes: the run's owner, or the process that ends a run without an owner. */
export interface RunLogWriter {
  append(messages: readonly string[], entries: readonly LogEntry[]): void
  setCallerAwaited(isAwaited: boolean): void
  /** Ends the event log. Readers can still take the existing entries. */
  close(): void
  readonly messages: readonly string[]
  readonly entries: readonly LogEntry[]
}

/** The live event logs of runs. Small event logs stay here for a minute after the run's end. */
export interface RunEventLog {
  /** Registers a queued run, so that its readers wait for the first event. */
  expect(runUuid: string): void
  /** Releases the readers of a run that will not start here. Does nothing if the event log is open. */
  forget(runUuid: string): void
  /** Drops an ended run's event log. Existing readers can still read this event log. */
  drop(runUuid: string): void
  /** Passes the number of readers to `onListeners`. @param isAwaited readers of other servers may already wait. */
  open(runUuid: string, onListeners: (count: number) => void, isAwaited?: boolean): RunLogWriter
  /** Returns a reader of all events after `afterId`. Returns undefined if this process does not have the event log. */
  follow(runUuid: string, afterId: number): RunLogReader | undefined
  /** The number of readers in this process that were not released. */
  readerCount(): number
  /** Like `follow`, for a run that another server supervises or will start. Absent on a single server. */
  followElsewhere?(runUuid: string, afterId: number, find: FindEnd): RunLogReader
}

/** Returns a run's state in the database: active, deleted, or all of its events. */
export type FindEnd = () => Promise<'active' | 'deleted' | StoredLog>

export interface StoredLog {
  messages: readonly string[]
  entries: readonly (LogEntry | StoredFrames)[]
  /** The spending and the facts so far of an active run. Undefined for an ended run, whose row has them. */
  underWay?: { spending: RunSpending; facts: RunFacts }
}

export interface StoredLogs {
  /** Returns null if the event log was dropped or has an unknown format. Current readers share one unpacked copy. */
  open(workspaceId: number, runUuid: string): Promise<StoredLog | null>
}

export interface EndedModelCall {
  provider: string
  model: string
  outcome: 'completed' | 'aborted' | 'failed' | ProviderErrorKind
  seconds: number
  /** Undefined if the response was not streamed or no text arrived. */
  firstTextSeconds: number | undefined
  usage: Usage | undefined
  /** In US dollars. Undefined if the call did not complete or the price is unknown. */
  cost: number | undefined
}

export interface EndedRun extends Pick<NewConversation, 'projectId' | 'path'> {
  status: RunEnd['status']
  mode: RunMode
  seconds: number
}

export interface RunMetrics {
  runEnded(run: EndedRun): void
  /** @param seconds how long a background run waited for its start. */
  runDequeued(seconds: number): void
  modelCallEnded(call: EndedModelCall): void
}
