import type { Request, Response } from 'express'
import type { Claim } from '../../features/deps.ts'
import type { ClaimedRun } from '../../features/idempotency/ports.ts'
import { startOnce } from '../../features/idempotency/start-once.ts'
import type { HttpDeps } from '../http-deps.ts'
import { idempotencyClaim } from '../input/idempotency-key.ts'
import { KeptFailure } from './error-response.ts'
import { keptFailure, markReplayed } from './only-once.ts'

interface OnceStart<T> {
  req: Request
  res: Response
  /** Starts the run, and stores its claim with it when there is one. */
  start(own: { claim?: Claim }): Promise<T>
  /** Takes part in the run of an earlier request. */
  join(run: ClaimedRun): Promise<T>
}

/** The run of this request, or that of an earlier one with the same `Idempotency-Key`. @throws its refusal. */
export async function startedOnce<T>(deps: HttpDeps, { req, res, start, join }: OnceStart<T>): Promise<T> {
  const claim = idempotencyClaim(req, res)
  if (!claim) return start({})
  const outcome = await startOnce(deps, {
    claim,
    start: () => start({ claim }),
    failure: (error) => keptFailure(res, error),
  })
  if ('started' in outcome) return outcome.started
  markReplayed(res)
  if ('run' in outcome) return join(outcome.run)
  throw new KeptFailure(outcome.answer)
}
