/** The object that a response belongs to. Deleting the object also erases the response; the id of the record stays. */
export interface ResponseSubject {
  projectId?: number
  conversationUuid?: string
}

/** The record that a request with an Idempotency-Key creates. Each used key has one record, kept for a day. */
export interface Claim extends ResponseSubject {
  /** SHA-256 of API key, method, path and Idempotency-Key. */
  id: string
  /** SHA-256 of the body. A request with the same key and another body is refused. */
  requestHash: string
  /** True if the response contains a secret, which is then sealed. */
  isSecret?: boolean
}

export interface StoredResponse<B = unknown> {
  status: number
  headers: Record<string, string>
  body: B
}

export interface ClaimedRun {
  conversationUuid: string
  runUuid: string
}

/** A finished record has a run or a response, or its subject was deleted. An unfinished record has neither. */
export interface IdempotencyRecord {
  /** True once the subject is deleted. The hash of the request and the response are then erased too. */
  isErased: boolean
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
  find(id: string): Promise<IdempotencyRecord | null>
  /** Changes the owner of an unfinished record. Returns false if the record is finished or `from` is not its owner. */
  takeOver(id: string, from: string, ownerId: string): Promise<boolean>
  /** Stores the response. Returns false if the record is finished, missing or has another owner. */
  complete(id: string, ownerId: string, answer: ResponseSubject & { text: string }): Promise<boolean>
  release(id: string, ownerId: string): Promise<void>
}

export interface IdempotencyUpkeep {
  /** Drops unfinished records of other owners without a valid lease. Returns the number of dropped records. */
  releaseOthers(ownerId: string): Promise<number>
  /** Drops one batch of records older than `before`. Returns the number of dropped records. */
  dropBefore(before: Date): Promise<number>
}

export interface IdempotencyDeps {
  upkeep: IdempotencyUpkeep
  /** Maps the ids of records that this process works on to their request hashes. */
  claimsInWork: Map<string, string>
}
