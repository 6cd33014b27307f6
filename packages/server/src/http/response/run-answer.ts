/** Answers with a run in the form that was asked for: one JSON body, or its event stream. */

import type { RunResult as RunResultBody } from '@stet/contract'
import type { Response } from 'express'
import type { Claim, ClaimedRun } from '../../features/idempotency/ports.ts'
import { startOnce } from '../../features/idempotency/start-once.ts'
import type { StartedRun } from '../../features/runs/events/watch-run.ts'
import type { HttpDeps } from '../http-deps.ts'
import type { UnreadBudget } from '../limits/unread-budget.ts'
import { ResponseTap } from '../mount.ts'
import { contextOf, whileOpen } from '../request/request-context.ts'
import { runResultBody } from '../wire/run-result.ts'
import { KeptFailure } from './error-response.ts'
import { sizedBody } from './large-body.ts'
import { keptFailure, markReplayed } from './only-once.ts'
import { type StreamedRun, writeRunStream } from './sse.ts'

interface OnceStart<T> {
  claim: Claim | undefined
  /** Starts the run, and stores its claim with it if there is one. */
  start(): Promise<T>
  /** Takes part in the run of an earlier request. */
  join(run: ClaimedRun): Promise<T>
}

/** The run of this request, or that of an earlier one with the same `Idempotency-Key`. @throws the refusal of either. */
export async function startedOnce<T>(deps: HttpDeps, res: Response, { claim, start, join }: OnceStart<T>): Promise<T> {
  if (!claim) return start()
  const outcome = await startOnce(deps, { claim, start, failure: (error) => keptFailure(res, error) })
  if ('started' in outcome) return outcome.started
  markReplayed(res)
  if ('answer' in outcome) throw new KeptFailure(outcome.answer)
  return join(outcome.run)
}

/** Answers once the run is stored: with its end, or with its events as they come. */
export async function runAnswer(
  deps: Pick<HttpDeps, 'logger'> & { unread: UnreadBudget },
  res: Response,
  run: StartedRun,
  mode: 'json' | 'stream',
): Promise<ResponseTap | RunResultBody> {
  if (mode === 'stream') {
    await run.committed
    return streamAnswer(deps, res, run)
  }
  try {
    const result = await run.result(whileOpen(res))
    res.setHeader('X-Conversation-Uuid', run.conversationUuid)
    return sizedBody(deps.unread, res, runResultBody(result, contextOf(res).client.declared))
  } catch (failure) {
    // A failure names the conversation too, unless the run was never stored.
    await run.committed.then(
      () => void res.setHeader('X-Conversation-Uuid', run.conversationUuid),
      () => undefined,
    )
    throw failure
  }
}

export function streamAnswer({ logger }: Pick<HttpDeps, 'logger'>, res: Response, run: StreamedRun): ResponseTap {
  const isDeclared = contextOf(res).client.declared
  return new ResponseTap((response) => {
    // A stream may be open for long, so it keeps neither the router's chain nor the parsed body.
    Object.assign(response.req, { next: undefined, body: undefined })
    writeRunStream(response, run, { isDeclared, log: logger })
  })
}
