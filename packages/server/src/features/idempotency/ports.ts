/** Port for idempotency records: one for each used key, kept for a day. */

/** The object that a response belongs to. Deleting the object also deletes the response. */
export interface ResponseSubject {
  projectId?: number
  conversationUuid?: string
}

/** The record that a request with an Idempotency-Key creates. */
export interface Claim extends ResponseSubject {
  /** SHA-256 of API key, method, path and Idempotency-Key. */
  id: string
  /** SHA-256 of the body. A request with the same key and another body is refused. */
  requestHash: string
  /** True if the response contains a secret, which is then sealed. */
  isSecret?: boolean
}

export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: unknown
}

export interface ClaimedRun {
  conversationUuid: string
  runUuid: string
}

/** A record has a run or a response. It has neither while its owner works on it. */
export interface IdempotencyRecord {
  requestHash: string
  ownerId: string
  isOwnerAlive: boolean
  run: ClaimedRun | null
  /** Plain or sealed text. */
  answer: string | null
}

/** `RunStore` writes the records of runs together with their runs. */
export interface IdempotencyStore {
  /** Returns false if a record exists. A unique constraint decides between concurrent requests. */
  claim(claim: Claim, ownerId: string, answer?: string): Promise<boolean>
  /** Returns null and drops the record if its subject was deleted. */
  find(id: string): Promise<IdempotencyRecord | null>
  /** Changes the owner of an unfinished record. Returns false if it is finished or `from` is not its owner. */
  takeOver(id: string, from: string, ownerId: string): Promise<boolean>
  /** Stores the response. Returns false if the record has another owner or already a response. */
  complete(id: string, ownerId: string, answer: ResponseSubject & { text: string }): Promise<boolean>
  release(id: string, ownerId: string): Promise<void>
}

export interface IdempotencyUpkeep {
  /** Drops unfinished records whose owners have no lease. Returns their number. */
  releaseOthers(ownerId: string): Promise<number>
  /** Drops one batch of records older than `before`. Returns their number. */
  dropBefore(before: Date): Promise<number>
}

export interface IdempotencyDeps {
  upkeep: IdempotencyUpkeep
  /** Maps the records in progress in this process to their request hashes. */
  claimsInWork: Map<string, string>
}
