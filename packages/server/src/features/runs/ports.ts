/** The ports of runs: rows with group commit, the live event log, the queue, signals and leases; and the settings of this server. */

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
  /** This process, as an owner of runs. */
  instanceId: string
  /** How long a foreground run continues without a reader; 0 stops it at once. */
  graceMs: number
  /** The longest duration of a run. */
  runTimeoutMs: number
  /** Events, and bytes of them, that one run may record. */
  maxEvents: number
  maxEventBytes: number
  /** How long a tool call waits for its result. */
  toolWaitMs: number
  /** How long a stop request waits for the end of the run. */
  stopWaitMs: number
  /** How long a finished run waits for a database that is away before it is abandoned. */
  storeWaitMs: number
  /** Other processes may own runs in the same database: the lease is renewed even without runs. */
  sharesDatabase: boolean
  /** Days that ended conversations are kept in projects without a value of their own; 0 = forever. */
  retentionDays: number
  /** How long the event log of an ended run is kept. */
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
  /** Effective global configuration; chats use it. */
  config: Record<string, unknown>
  createdAt: Date
}

export interface NewRun {
  uuid: string
  conversationUuid: string
  workspaceId: number
  ownerId: string
  /** The epoch that this run takes: 1 for the first, the conversation's next one for a chat. */
  epoch: number
  firstEventId: number
  createdAt: Date
}

/** A queued run: it has its input and no owner yet. */
export interface NewQueuedRun extends Omit<NewRun, 'ownerId'> {
  apiKeyId: number
  input: PromptInput
}

export interface QueuedRun {
  runUuid: string
  apiKeyId: number
}

/** The content of the terminal event, without messages. */
export interface StoredRunResult {
  response?: StepResponse
  toolRequests: ToolCall[]
  tokenUsage: Usage
  cost: number
  costUnknown: boolean
  /** The last provider-completed event, for reads after the event log was dropped. */
  completed?: { eventId: number; covers: number }
  /** Messages of the conversation when the run ended; later runs add theirs. */
  covers?: number
  error?: { code: RunErrorCode; message: string; details: Record<string, unknown> }
}

/** The end of a run, written by compare-and-set on (run, epoch, state). */
export interface RunEnd {
  runUuid: string
  conversationUuid: string
  epoch: number
  /** A queued run may be stopped without having started. */
  from: 'queued' | 'running'
  /** The conversation's next epoch: unchanged for an owner, raised by a reaper. */
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
  /**
   * A conversation with its first run, running or queued. False, and nothing stored, if its idempotency record exists.
   */
  create(conversation: NewConversation, run: NewRun | NewQueuedRun, claim?: Claim | undefined): Promise<boolean>
  /** @throws AppError ServiceUnavailableError while the server is read-only. */
  assertOpen(): void
  /** No write has succeeded lately, so a run must be stored before its provider is called. */
  isStorageInDoubt(): boolean
  /**
   * Starts the next run of a conversation. False if another run took the epoch or is active, or if its idempotency
   * record exists.
   * @param added messages that the run begins with. Stored with it, so that they survive every end.
   */
  createNext(run: NewRun, added: readonly Message[], claim?: Claim | undefined): Promise<boolean>
  /** Queued runs in the order of their creation. */
  listQueued(): Promise<QueuedRun[]>
  /** A queued run's conversation and input; null if it is no longer queued. */
  findQueued(runUuid: string): Promise<{ conversation: StoredConversation; input: PromptInput } | null>
  /** The input of a run from the queue, until it ends; null for others. */
  findInput(runUuid: string): Promise<PromptInput | null>
  /**
   * Claims a queued run; false if another owner did, or a stop was requested.
   * @param isRepeat the answer to the same claim was lost: it may have succeeded.
   */
  startQueued(run: NewRun, isRepeat: boolean): Promise<boolean>
  /** Records a stop; false if the run has ended or a stop is recorded already. */
  requestStop(runUuid: string): Promise<boolean>
  /** False, and nothing written, if this owner has lost the run. */
  end(end: RunEnd): Promise<boolean>
  findConversation(workspaceId: number, uuid: string): Promise<StoredConversation | null>
  /** The conversation as of that run, which is its latest there. */
  findRun(workspaceId: number, runUuid: string): Promise<StoredConversation | null>
  /** Conversations with an orphaned run: `running`, and the lease of its owner has ended. */
  listOrphaned(ownerId: string): Promise<StoredConversation[]>
  /** The stored event log of an ended run; null after the retention time. */
  findEventLog(workspaceId: number, runUuid: string): Promise<Uint8Array | null>
  /** Drops event logs of runs that ended in `[from, before)`, some at a time; returns how many. */
  dropEventLogs(from: Date, before: Date): Promise<number>
}

/** The leases of processes, by the clock of the database. */
export interface LeaseStore {
  /** Renews the lease of `ownerId`; returns its running runs with a requested stop. */
  renew(ownerId: string, leaseMs: number): Promise<string[]>
  /** The process ends: runs that it still owns are orphaned at once. */
  release(ownerId: string): Promise<void>
  /** For a database of a single process, where every other lease is of a dead one. */
  endAll(): Promise<void>
}

/** Queued runs of this server, in order. Their rows are the durable copy. */
export interface RunQueue {
  /** Reserves a place in the queue for the key; false if the key is at its limit. */
  reserve(runUuid: string, apiKeyId: number): boolean
  /** The row is stored, so the run may start. Works without a reservation; a queued run keeps its place. */
  add(run: QueuedRun): void
  /** The run is no longer queued, or was never stored. */
  remove(runUuid: string): void
  /** Starts to hand out runs, several at once; `start` resolves when its run has left the worker. */
  work(start: (runUuid: string) => Promise<void>): void
  /** Hands out no more. */
  stop(): void
}

/** Wakes the owner of a run. Early signals wait for their listener. */
export interface RunSignals {
  stop(runUuid: string): void
  /** @returns ends the listening. */
  onStop(runUuid: string, hear: () => void): () => void
}

/** A message, encoded once: whole, and for legacy clients (the same text if equal). */
export interface EncodedMessage {
  whole: string
  declared: string
}

/** A piece of an event's text: literal, or the messages `[from, to)` of the conversation, joined by commas. */
export type EventPiece = string | readonly [from: number, to: number]

/** One recorded event: ready text, or pieces if it is large or carries messages. */
export interface LogEntry {
  id: number
  pieces: string | readonly EventPiece[]
  /** Pieces for legacy clients, if more than the messages differs. */
  declaredPieces?: readonly EventPiece[]
  /** Not shown to legacy clients. */
  isUndeclaredOnly?: true
}

/** Adjacent provider-events of a stored event log: their frames as the bytes that every reader gets. */
export interface StoredFrames {
  /** The id of the first event; `lastId` is that of the last. Ids in between have no gap. */
  id: number
  lastId: number
  bytes: Buffer
}

/** The kind of reader: legacy clients get messages and events that their models accept. */
export type MessageForm = keyof EncodedMessage

/** Encodes runs for readers and for storage. Features pass its output on without reading it. */
export interface EventCodec {
  encodeMessage(message: Message): EncodedMessage
  encodeResponse(response: StepResponse, conversationUuid: string): EncodedResponse
  /** @param run its conversation, and the document and version that every event names. */
  encodeEvent(event: RunEvent, id: number, at: Date, run: RunSource & { uuid: string }): LogEntry
  /** Bytes of UTF-8, without the messages that the entry names by place. */
  bytesOf(entry: LogEntry): number
  /** Adds the frame of an entry, or ready frames. Entries hidden from readers of this form add nothing. */
  addFrame(
    into: (string | Buffer)[],
    entry: LogEntry | StoredFrames,
    messages: readonly EncodedMessage[],
    form: MessageForm,
  ): void
  packEventLog(messages: readonly EncodedMessage[], entries: readonly LogEntry[]): Promise<Uint8Array>
  /** Null for an obsolete format. */
  unpackEventLog(file: Uint8Array): Promise<StoredLog | null>
  /** The events after `afterId`. */
  entriesAfter(log: StoredLog, afterId: number): readonly (LogEntry | StoredFrames)[]
}

/** A reader's place in an event log. It counts as a reader of the run until it is released. */
export interface RunLogReader {
  readonly messages: readonly EncodedMessage[]
  /** Entries after the reader's place, at most `limit`; moves the place. */
  take(limit: number): readonly (LogEntry | StoredFrames)[]
  /** Resolves when there is more to take, at the end of the log, or after `release`. */
  changed(): Promise<void>
  /** Calls `hear` after every append and at the end of the log, synchronously. */
  listen(hear: () => void): void
  /** Everything was taken, and the log has ended. */
  isAtEnd(): boolean
  /** The run waits for a tool result of the caller, so a reader that pauses may be working on it. */
  isCallerAwaited(): boolean
  release(): void
}

/** Only the owner of the run writes. */
export interface RunLogWriter {
  append(messages: readonly EncodedMessage[], entries: readonly LogEntry[]): void
  /** Whether the run waits for a tool result of the caller. */
  setCallerAwaited(isAwaited: boolean): void
  /** No more events: readers end after the existing ones. */
  close(): void
  readonly messages: readonly EncodedMessage[]
  readonly entries: readonly LogEntry[]
}

/** The live events of runs, kept for a minute after their end. */
export interface RunEventLog {
  /** The run is queued: its readers wait for the first event. */
  expect(runUuid: string): void
  /** The run will not start here: releases its readers. An open log stays. */
  forget(runUuid: string): void
  /** Drops the log of an ended run. Existing readers keep it. */
  drop(runUuid: string): void
  /** @param onListeners called with the number of readers whenever it changes. */
  open(runUuid: string, onListeners: (count: number) => void): RunLogWriter
  /** Events with an id above `afterId`, then live ones; undefined if this process does not have the log. */
  follow(runUuid: string, afterId: number): RunLogReader | undefined
}

export interface StoredLog {
  messages: readonly EncodedMessage[]
  entries: readonly (LogEntry | StoredFrames)[]
}

export interface StoredLogs {
  /** Null if the event log was dropped or is unreadable. It is shared for as long as a reader references it. */
  open(workspaceId: number, runUuid: string): Promise<StoredLog | null>
}

export interface ActiveRun {
  runUuid: string
  conversationUuid: string
  workspaceId: number
  /** The current state of the conversation. */
  view(): StoredConversation
  /** Settles when the run has left this process. */
  ended: Promise<unknown>
  /** Ends the run with `reason` as its error. */
  abort(reason: RunError): void
}

/** The row of a run that this process has queued. */
export interface QueuedHere {
  conversation: StoredConversation
  /** JSON of the run's input. */
  input: string
}

export type AbandonedRun = Pick<ActiveRun, 'runUuid' | 'conversationUuid' | 'workspaceId'>

export interface ActiveRuns {
  add(run: ActiveRun): void
  /** @param outcome the conversation as stored; undefined when nothing was stored here. */
  remove(run: Pick<ActiveRun, 'runUuid' | 'conversationUuid'>, outcome: StoredConversation | undefined): void
  /** No end could be stored. The reaper ends the row. */
  abandon(run: AbandonedRun): void
  /** Runs abandoned since the last call. */
  takeAbandoned(): AbandonedRun[]
  find(workspaceId: number, conversationUuid: string): ActiveRun | undefined
  /** Queued or ended here lately. */
  findIdle(workspaceId: number, conversationUuid: string): StoredConversation | undefined
  /** @param isAlone no other process changes the row, so the conversation is read from memory until the run starts. */
  rememberQueued(runUuid: string, queued: QueuedHere, isAlone: boolean): void
  /** Returns a run once. Its row wins where the two differ. */
  takeQueued(runUuid: string): QueuedHere | undefined
  /** The next run of the conversation has started: the remembered state is outdated. */
  forget(conversationUuid: string): void
  /** Forgets all conversations: another server may have continued any of them. */
  forgetAll(): void
  list(): ActiveRun[]
}

/** A call to a model, with its retries. */
export interface EndedModelCall {
  /** The kind of the provider. */
  provider: string
  model: string
  outcome: 'completed' | 'aborted' | 'failed' | ProviderErrorKind
  seconds: number
  /** Undefined for a plain call, or if no text came. */
  firstTextSeconds: number | undefined
  /** Undefined unless the call completed. */
  usage: Usage | undefined
}

/** Counts and measures for operators. */
export interface RunMetrics {
  runEnded(status: RunEnd['status'], seconds: number): void
  modelCallEnded(call: EndedModelCall): void
}

/** The dependencies of runs: their stores, the live events, the queue, and the settings of this server. */
export interface RunDeps {
  /** Run rows go through the write batch, hence outside `stores`. */
  store: RunStore
  queue: RunQueue
  signals: RunSignals
  leases: LeaseStore
  /** The events of runs that this process supervises, or ended lately. */
  eventLog: RunEventLog
  storedLogs: StoredLogs
  codec: EventCodec
  active: ActiveRuns
  metrics: RunMetrics
  settings: RunSettings
  toolCalls: ToolCallStore
  toolSignals: ToolSignals
  /** Tools that the operator supplies. */
  serverTools: ServerTools
}
