import type { Needs } from '../deps.ts'
import { isKept, otherRequest, readAnswer, writeAnswer } from './idempotency-key.ts'
import type { Claim, ClaimedRun, KeptAnswer } from './ports.ts'

export type StartOutcome<T> = { started: T } | { run: ClaimedRun } | { answer: KeptAnswer }

export interface StartOnceInput<T> {
  claim: Claim
  /** Stores the run and its idempotency record in one transaction. Throws if the record exists. */
  start(): Promise<T>
  failure(error: unknown): KeptAnswer
}

/** @throws errors of `start`; AppError UnprocessableEntityError for another body with the same key. */
export async function startOnce<T>(
  deps: Needs<'stores' | 'secrets' | 'runs'>,
  { claim, start, failure }: StartOnceInput<T>,
): Promise<StartOutcome<T>> {
  try {
    return { started: await start() }
  } catch (error) {
    const earlier = await findEarlier(deps, claim)
    if (earlier) return earlier
    const answer = failure(error)
    if (isKept(answer) && !(await keepFailure(deps, claim, answer))) {
      const other = await findEarlier(deps, claim)
      if (other) return other
    }
    throw error
  }
}

async function findEarlier(
  deps: Needs<'stores' | 'secrets'>,
  claim: Claim,
): Promise<{ run: ClaimedRun } | { answer: KeptAnswer } | undefined> {
  const record = await deps.stores.idempotency.find(claim.id)
  if (!record) return undefined
  if (record.requestHash !== claim.requestHash) throw otherRequest()
  if (record.run) return { run: record.run }
  return record.answer === null ? undefined : { answer: readAnswer(deps, formOf(claim), record.answer) }
}

/** Returns false if another request was faster. */
function keepFailure(deps: Needs<'stores' | 'secrets' | 'runs'>, claim: Claim, answer: KeptAnswer): Promise<boolean> {
  const text = writeAnswer(deps, formOf(claim), answer)
  return deps.stores.idempotency.claim(claim, deps.runs.settings.instanceId, text)
}

function formOf({ id }: Claim) {
  return { id, isSecret: false }
}
