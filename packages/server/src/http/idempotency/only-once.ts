/** Executes a request once per `Idempotency-Key`. Repeated requests get the stored response or join the run. */
import { defined } from '@stet/template/defined'
import type { Request, Response } from 'express'
import { largestId } from '../../features/documents/version-ref.ts'
import { answerOnce, startOnce } from '../../features/idempotency/answer-once.ts'
import { claimFor } from '../../features/idempotency/idempotency-key.ts'
import type { Claim, ClaimedRun, ResponseSubject, StoredResponse } from '../../features/idempotency/ports.ts'
import { readUuid } from '../../shared/text-guards.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import { errorResponse, KeptFailure } from '../body/error-response.ts'
import type { HttpDeps } from '../http-deps.ts'
import { matchedRoute } from '../mount.ts'
import { RawResponse } from '../raw-response.ts'

interface Call<S, W, B> {
  req: Request
  res: Response
  status: S
  /** Must be pure: with an `Idempotency-Key`, the transaction of the work stores the response. */
  bodyOf(written: W): B
  headersOf?(written: W): Record<string, string>
  /**
   * Returns the project or conversation that the response belongs to. Needed if the path does not name it. Purging it
   * also deletes the stored response.
   */
  subjectOf?(written: W): ResponseSubject
}

/** @param work has at most one transaction, and returns what its callback returned. */
export async function onlyOnce<S extends number, W, B>(
  deps: HttpDeps,
  { req, res, status, bodyOf, headersOf, subjectOf }: Call<S, W, B>,
  work: (own: HttpDeps) => Promise<W>,
): Promise<{ status: S; body: B | RawResponse }> {
  const answerOf = (written: W) => ({
    ...subjectOf?.(written),
    response: { status, headers: headersOf?.(written) ?? {}, body: bodyOf(written) },
  })
  const failure = (error: unknown) => errorResponse(error, contextOf(res).requestId)
  const claim = idempotencyClaim(req, res)
  const answer = claim ? await answerOnce(deps, { claim, work, answerOf, failure }) : answerOf(await work(deps))
  if ('earlier' in answer) return { status, body: new RawResponse((response) => replay(response, answer.earlier)) }
  res.set(answer.response.headers)
  return { status, body: answer.response.body }
}

function markReplayed(res: Response): void {
  res.setHeader('Idempotency-Replayed', 'true')
}

function replay(res: Response, { status, headers, body }: StoredResponse): void {
  markReplayed(res)
  res.set(headers).status(status).json(body)
}

interface StartOnce<T> {
  claim: Claim | undefined
  /** All of the work, the look-up of the prompt included: a repeated request joins its run after that prompt is gone. */
  start(): Promise<T>
  join(run: ClaimedRun): Promise<T>
  /** The answer to a failed start. Default: that of API v3. */
  failure?(error: unknown): StoredResponse
}

/**
 * Starts a run, or joins the run of an earlier request with the same `Idempotency-Key`.
 * @throws KeptFailure if the stored response is an error; the errors of `startOnce` and `join`.
 */
export async function startedOnce<T>(
  deps: HttpDeps,
  res: Response,
  { claim, start, join, failure: own }: StartOnce<T>,
): Promise<T> {
  if (!claim) return start()
  const failure = own ?? ((error: unknown) => errorResponse(error, contextOf(res).requestId))
  const outcome = await startOnce(deps, { claim, start, failure })
  if ('started' in outcome) return outcome.started
  markReplayed(res)
  if ('response' in outcome) throw new KeptFailure(outcome.response)
  return join(outcome.run)
}

/**
 * Returns undefined without an `Idempotency-Key`. @param body what a repeated request must have in common with the first.
 * @throws AppError BadRequestError for a malformed key.
 */
export function idempotencyClaim(req: Request, res: Response, body: unknown = req.body): Claim | undefined {
  const key = req.headers['idempotency-key']
  if (key === undefined) return undefined
  return claimFor({
    apiKeyId: callerOf(res).apiKeyId,
    method: req.method,
    path: req.baseUrl + req.path.replace(/\/$/, ''),
    key: String(key),
    body,
    isSecret: matchedRoute(req).metadata.answersSecret === true,
    ...addressedBy(req),
  })
}

function addressedBy({ params }: Request): ResponseSubject {
  const projectId = Number(params['projectId'])
  const conversationUuid = readUuid(String(params['conversationUuid']))
  return {
    ...(projectId > 0 && projectId <= largestId && Number.isInteger(projectId) && { projectId }),
    ...defined({ conversationUuid }),
  }
}
