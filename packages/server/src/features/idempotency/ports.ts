/** What idempotency needs from storage: one record for each key that was used, kept for a day. */
import type { AnswerSubject, Claim } from './idempotency-key.ts'

/** What a request was answered, and what each repetition of it is answered. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: unknown
}

/** An answer as it is stored. */
export interface StoredAnswer extends AnswerSubject {
  /** As text, sealed or not. */
  text: string
}

/** A run that a request started. */
export interface ClaimedRun {
  conversationUuid: string
  runUuid: string
}

/** Holds a run, or an answer, or neither while its owner works on it. */
export interface IdempotencyRecord {
  requestHash: string
  ownerId: string
  /** The owner's lease holds. */
  isOwnerAlive: boolean
  run: ClaimedRun | null
  /** As text, sealed or not. */
  answer: string | null
}

/** Records of runs are written with their runs, by the run store. */
export interface IdempotencyStore {
  /** False when a record is there: a constraint decides, whoever asks at the same time. */
  claim(claim: Claim, ownerId: string, answer?: string): Promise<boolean>
  /** Also null, and the record is dropped, if its subject was deleted. */
  find(id: string): Promise<IdempotencyRecord | null>
  /** The next owner of a record without run and answer; false when it has another owner than `from`, or is done. */
  takeOver(id: string, from: string, ownerId: string): Promise<boolean>
  /** Keeps the answer; false when the record has another owner by now, or an answer. */
  complete(id: string, ownerId: string, answer: StoredAnswer): Promise<boolean>
  /** Forgets a record that came to nothing: the next use is a first one. */
  release(id: string, ownerId: string): Promise<void>
}

/** What the process itself does to records, apart from requests. */
export interface IdempotencyUpkeep {
  /** Forgets what others have begun and not finished, unless their lease says that they live; returns how many. */
  releaseOthers(ownerId: string): Promise<number>
  /** Forgets records made before the instant, some at a time; returns how many. */
  dropBefore(before: Date): Promise<number>
}
