import type { LRUCache } from 'lru-cache'
import type { Cell } from './cell.ts'

/** The kind of the series in an answer. */
export type StatsKey = 'prompt' | 'version' | 'model'

/** Ms since 1970. */
export interface Span {
  from: number
  to: number
}

/** A part of the facts of a project. */
export interface Piece extends Span {
  projectId: number
  /** Counts only the runs of this prompt. */
  documentUuid?: string | undefined
  by: StatsKey
  /** Also divides by prompt. */
  isByPrompt?: true
  stepSeconds: number
}

export interface StepCell {
  /** The start of the step, in ms since 1970. */
  at: number
  via: string
  /** The prompt's uuid with `isByPrompt`, else empty. */
  prompt: string
  /** A uuid, or a model. Empty for runs that called no model. */
  key: string
  cell: Cell
}

/** The steps of a piece as numbers. A text is a number too: its place in `texts`. */
export interface PackedSteps {
  texts: readonly string[]
  numbers: Float64Array
}

/** The cells of a closed day by `via` and key. */
export type DayCells = Readonly<Record<string, Readonly<Record<string, Cell>>>>

/** A day of a project, or of one of its prompts. Days are `YYYY-MM-DD` in UTC. */
export interface StoredDay {
  day: string
  /** Empty for the project. */
  documentUuid: string
  by: StatsKey
  cells: DayCells
}

export interface PublicationMark {
  at: Date
  versionUuid: string
  version: number
  title: string
}

/** Reads facts, which never change, by the database's clock. Each method sends one statement. */
export interface StatsStore {
  /** Returns the database's time and the number of active runs of the project, or of the prompt. */
  look(projectId: number, documentUuid?: string): Promise<{ now: number; running: number }>
  /** Counts the facts of each span, at most `most` each. */
  countFacts(place: Pick<Piece, 'projectId' | 'documentUuid'>, spans: readonly Span[], most: number): Promise<number[]>
  sumPiece(piece: Piece): Promise<StepCell[]>
  listDays(place: Pick<Piece, 'projectId' | 'documentUuid' | 'by'> & Span): Promise<{ day: string; cells: DayCells }[]>
  /** Stores all rows of a day, or nothing if the day is stored. */
  saveDay(projectId: number, days: readonly StoredDay[]): Promise<void>
  /** Lists the first day of each project that has ended, has facts and is not stored. */
  listUnstoredDays(): Promise<{ projectId: number; day: string }[]>
  /** Deletes a batch of old facts whose day is stored. Returns their number. */
  dropFacts(olderThanDays: number): Promise<number>
  /** Returns the names of prompts or versions by uuid. An unknown one is left out. */
  listLabels(
    projectId: number,
    by: 'prompt' | 'version',
    uuids: readonly string[],
  ): Promise<ReadonlyMap<string, string>>
  listPublications(projectId: number, span: Span): Promise<PublicationMark[]>
}

export interface StatsDeps {
  store: StatsStore
  /** The most facts that one statement reads. More would hold the embedded database's only session for over 250 ms. */
  mostFacts: number
  /** Steps of pieces that have ended, by the piece. */
  pieces: LRUCache<string, PackedSteps>
  /**
   * Runs one question at a time, so that questions take at most one connection. Workspaces and keys take turns.
   * @throws AppError ServiceUnavailableError if too many questions wait, or if the caller disconnects before its turn.
   */
  inTurn<T>(asker: Asker, work: () => Promise<T>): Promise<T>
}

/** The caller whose question waits for its turn. */
export interface Asker {
  workspaceId: number
  apiKeyId: number
  /** Aborted when the caller disconnects. */
  signal: AbortSignal
}
