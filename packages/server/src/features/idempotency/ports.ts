/** The port for idempotency records: one for each key that was used, kept for a day. */

/** The subject of a stored response. It is deleted together with its subject. */
export interface AnswerSubject {
  projectId?: number
  conversationUuid?: string
}

export interface Claim extends AnswerSubject {
  /** SHA-256 of API key, method, path and Idempotency-Key. */
  id: string
  /** SHA-256 of the body. The same key with another body is refused. */
  requestHash: string
}

/** A stored response. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: unknown
}

export interface StoredAnswer extends AnswerSubject {
  /** Plain or sealed text. */
  text: string
}

/** A run that a request started. */
export interface ClaimedRun {
  conversationUuid: string
  runUuid: string
}

/** Has a run, or a response, or neither while its owner works on it. */
export interface IdempotencyRecord {
  requestHash: string
  ownerId: string
  /** Whether the owner's lease is valid. */
  isOwnerAlive: boolean
  run: ClaimedRun | null
  /** As text, sealed or not. */
  answer: string | null
}

/** The run store writes the records of runs, with their runs. */
export interface IdempotencyStore {
  /** False if a record exists. A constraint decides between parallel requests. */
  claim(claim: Claim, ownerId: string, answer?: string): Promise<boolean>
  /** Null, and the record is dropped, if its subject was deleted. */
  find(id: string): Promise<IdempotencyRecord | null>
  /** Changes the owner of an unfinished record; false if its owner is not `from`, or it is finished. */
  takeOver(id: string, from: string, ownerId: string): Promise<boolean>
  /** Stores the response; false if the record has another owner by now, or a response. */
  complete(id: string, ownerId: string, answer: StoredAnswer): Promise<boolean>
  /** Drops a record, so that the next use of the key is a first one. */
  release(id: string, ownerId: string): Promise<void>
}

/** The upkeep of records, apart from requests. */
export interface IdempotencyUpkeep {
  /** Drops unfinished records of owners without a lease; returns their number. */
  releaseOthers(ownerId: string): Promise<number>
  /** Drops a batch of records made before the instant; returns their number. */
  dropBefore(before: Date): Promise<number>
}

export interface IdempotencyDeps {
  upkeep: IdempotencyUpkeep
  /** Records that this process is working on, with the hashes of their requests. */
  claimsInWork: Map<string, string>
}
