/** What runs need from outside: rows with group commit, a live event log, and the limits of this server. */
import type { RunErrorCode } from '../../shared/app-error.ts'
import type { Claim } from '../deps.ts'
import type { Usage } from '../providers/usage.ts'
import type { Message, ToolCall } from '../templates/message.ts'
import type { PromptInput } from './execute-run.ts'
import type { RunStatus, StepResponse } from './run.ts'

export interface RunSettings {
  /** This process, as the owner of the runs that it drives. */
  instanceId: string
  /** How long a foreground run goes on without a listener; 0 stops it at once. */
  graceMs: number
  /** The longest duration of a run. */
  runTimeoutMs: number
  /** Events, and bytes of them, that one run may record. */
  maxEvents: number
  maxEventBytes: number
  /** How long a tool call waits for its result. */
  toolWaitMs: number
  /** How long a stop waits for the end of its run before it is answered. */
  stopWaitMs: number
  /** How long a finished run waits for a database that is away before it is given up. */
  storeWaitMs: number
  /** Other processes may own runs in the same database: this one keeps its lease also while it drives none. */
  sharesDatabase: boolean
  /** Days that ended conversations are kept in projects without a value of their own; 0 = forever. */
  retentionDays: number
  /** How long the event log of an ended run is kept. */
  eventRetentionMs: number
}

export type ConversationOrigin = 'run' | 'background' | 'log'

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
  /** Effective global configuration; chats go on with it. */
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

/** A run that waits for its turn: no owner yet, and all that it starts with. */
export interface NewQueuedRun extends Omit<NewRun, 'ownerId'> {
  apiKeyId: number
  input: PromptInput
}

/** A run as it stands in the queue. */
export interface QueuedRun {
  runUuid: string
  apiKeyId: number
}

/** What the terminal event says besides messages. */
export interface StoredRunResult {
  response?: StepResponse
  toolRequests: ToolCall[]
  tokenUsage: Usage
  cost: number
  costUnknown: boolean
  /** The last provider-completed event, for who reads the end after the event log has gone. */
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
  /** The conversation's epoch from now on: the same for an owner, the next one for who reaps. */
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
  /** A conversation with its first run, running or queued; false, and nothing stored, when the claim was used before. */
  create(conversation: NewConversation, run: NewRun | NewQueuedRun, claim?: Claim): Promise<boolean>
  /** @throws AppError ServiceUnavailableError while the server is read-only. */
  assertOpen(): void
  /** No write has succeeded lately: a run must be stored before its provider is called. */
  isStorageInDoubt(): boolean
  /**
   * Starts the next run of a conversation; false when another one took the epoch or is active, or the claim was used before.
   * @param added what the run begins with: stored with it, so that they are kept however the run ends.
   */
  createNext(run: NewRun, added: readonly Message[], claim?: Claim): Promise<boolean>
  /** Queued runs in the order of their creation. */
  listQueued(): Promise<QueuedRun[]>
  /** The conversation of a run that is queued, with what the run starts with; null when it is queued no more. */
  findQueued(runUuid: string): Promise<{ conversation: StoredConversation; input: PromptInput } | null>
  /** What a run that came from the queue started with, until it ends; null for others. */
  findInput(runUuid: string): Promise<PromptInput | null>
  /**
   * Takes a run out of the queue, as its owner; false when another one did, or a stop was requested.
   * @param isRepeat the answer to the same call was lost: it may have won.
   */
  startQueued(run: NewRun, isRepeat: boolean): Promise<boolean>
  /** Records a stop; false when the run has ended, or a stop stands there already. */
  requestStop(runUuid: string): Promise<boolean>
  /** False when this owner has lost the run: then nothing was written. */
  end(end: RunEnd): Promise<boolean>
  findConversation(workspaceId: number, uuid: string): Promise<StoredConversation | null>
  /** The conversation as that run of it stands, or left it; the run is its latest there. */
  findRun(workspaceId: number, runUuid: string): Promise<StoredConversation | null>
  /** Conversations whose run is `running` under another owner, one whose lease has ended. */
  listLost(ownerId: string): Promise<StoredConversation[]>
  /** The stored event log of an ended run; null after the retention time. */
  findEventLog(workspaceId: number, runUuid: string): Promise<Uint8Array | null>
  /** Drops event logs of runs that ended in `[from, before)`, some at a time; returns how many. */
  dropEventLogs(from: Date, before: Date): Promise<number>
}

/** Where processes say that they live, by the clock of the database. */
export interface LeaseStore {
  /** Renews the lease of `ownerId`; returns its running runs that somebody asked to stop. */
  renew(ownerId: string, leaseMs: number): Promise<string[]>
  /** The process leaves: what it may still own is lost at once. */
  release(ownerId: string): Promise<void>
  /** For a database that one process has to itself: every lease is one of a dead process. */
  endAll(): Promise<void>
}

/** Queued runs of this server in the order in which they came. Never the only copy: their rows are. */
export interface RunQueue {
  /** Takes a place for the key; false when it holds as many as it may. */
  reserve(runUuid: string, apiKeyId: number): boolean
  /** The row is stored: the run may start. Without a reservation too, after a restart; a known run stays where it is. */
  add(run: QueuedRun): void
  /** The run is queued no more, or was never stored. */
  remove(runUuid: string): void
  /** Starts to hand out runs, some at once; `start` resolves when the run has left its worker. */
  work(start: (runUuid: string) => Promise<void>): void
  /** Hands out no more. */
  stop(): void
}

/** Wakes the owner of a run. A signal that came before its listener is kept for it. */
export interface RunSignals {
  stop(runUuid: string): void
  /** @returns ends the listening. */
  onStop(runUuid: string, hear: () => void): () => void
}

/** A message, encoded once: as it is, and for callers that declare a published SDK (the same text where equal). */
export interface EncodedMessage {
  whole: string
  declared: string
}

/** A piece of an event's text: as it is, or the messages `[from, to)` of the conversation, joined by commas. */
export type EventPiece = string | readonly [from: number, to: number]

/** One recorded event; ready text for provider-events, pieces for those that are large and for events that carry messages. */
export interface LogEntry {
  id: number
  pieces: string | readonly EventPiece[]
  /** Pieces for declared callers where more than the messages differs. */
  declaredPieces?: readonly EventPiece[]
  /** Not shown to callers that declare a published SDK. */
  isUndeclaredOnly?: true
}

/** Neighbouring provider-events of a stored log: their frames are kept as the bytes that every reader gets. */
export interface StoredFrames {
  /** Of the first and the last event; none is missing between them. */
  id: number
  lastId: number
  bytes: Buffer
}

/** A reader's place in a log. It counts as a listener of the run until it is released. */
export interface RunLogReader {
  readonly messages: readonly EncodedMessage[]
  /** Entries after the reader's place, at most `limit`; moves the place. */
  take(limit: number): readonly (LogEntry | StoredFrames)[]
  /** Resolves when there is more to take, when the log has ended, or after `release`. */
  changed(): Promise<void>
  /** Calls `hear` from now on whenever something was added and when the log ends, in the turn of the writer. */
  listen(hear: () => void): void
  /** Everything was taken and nothing more will come. */
  isAtEnd(): boolean
  /** The run waits for a tool result of the caller: a reader that stands still may be busy with it. */
  isCallerAwaited(): boolean
  release(): void
}

/** Written by the owner of one run alone. */
export interface RunLogWriter {
  append(messages: readonly EncodedMessage[], entries: readonly LogEntry[]): void
  /** Whether the run waits for a tool result of the caller. */
  setCallerAwaited(isAwaited: boolean): void
  /** No more events: readers get what is there and end. */
  close(): void
  readonly messages: readonly EncodedMessage[]
  readonly entries: readonly LogEntry[]
}

/** The live events of runs, kept until a minute after their end. */
export interface RunEventLog {
  /** The run is queued: whoever follows it waits for its first event. */
  expect(runUuid: string): void
  /** The run will not start here: whoever waits for it is let go. A log that was opened stays. */
  forget(runUuid: string): void
  /** Keeps the log of an ended run no longer. Readers that hold it read on. */
  drop(runUuid: string): void
  /** @param onListeners hears the number of readers whenever it changes. */
  open(runUuid: string, onListeners: (count: number) => void): RunLogWriter
  /** Events with an id above `afterId`, then live ones; undefined when the log is not kept here (any more). */
  follow(runUuid: string, afterId: number): RunLogReader | undefined
}
