/** Starts a run once, however often its request is sent; repetitions learn which run that is. */
import type { Needs } from '../deps.ts'
import { type Claim, isKept, otherRequest, readAnswer, writeAnswer } from './idempotency-key.ts'
import type { ClaimedRun, KeptAnswer } from './ports.ts'

/** Started now, or the run of an earlier request, or the answer to one that was refused before it ran. */
export type StartOutcome<T> = { started: T } | { run: ClaimedRun } | { answer: KeptAnswer }

export interface StartOnceInput<T> {
  claim: Claim
  /** Stores the run together with its claim, both or neither, and throws when the claim was taken. */
  start(): Promise<T>
  /** The answer to what `start` throws. */
  failure(error: unknown): KeptAnswer
}

/** @throws what `start` throws; AppError UnprocessableEntityError for another body under the same key. */
export async function startOnce<T>(
  deps: Needs<'stores' | 'secrets' | 'runSettings'>,
  { claim, start, failure }: StartOnceInput<T>,
): Promise<StartOutcome<T>> {
  try {
    return { started: await start() }
  } catch (error) {
    // Whatever was refused now: what came of the first request is the answer.
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

/** False when another request came first. */
function keepFailure(
  deps: Needs<'stores' | 'secrets' | 'runSettings'>,
  claim: Claim,
  answer: KeptAnswer,
): Promise<boolean> {
  const text = writeAnswer(deps, formOf(claim), answer)
  return deps.stores.idempotency.claim(claim, deps.runSettings.instanceId, text)
}

function formOf({ id }: Claim) {
  return { id, isSecret: false }
}
