/** Executes a request once per `Idempotency-Key`. Repeated requests get the stored response or join the run. */
import type { Request, Response } from 'express'
import { largestId } from '../../features/documents/version-ref.ts'
import { answerOnce } from '../../features/idempotency/answer-once.ts'
import { claimFor } from '../../features/idempotency/idempotency-key.ts'
import type { Claim, ClaimedRun, ResponseSubject, StoredResponse } from '../../features/idempotency/ports.ts'
import { startOnce } from '../../features/idempotency/start-once.ts'
import { readUuid } from '../../shared/text-guards.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import { errorResponse, KeptFailure } from '../body/error-response.ts'
import type { HttpDeps } from '../http-deps.ts'
import { matchedRoute } from '../mount.ts'
import { RawResponse } from '../raw-response.ts'

interface Call<S, B> {
  req: Request
  res: Response
  status: S
  /**
   * Returns the project or conversation that the response belongs to. Needed if the path does not name it. Purging it
   * also deletes the stored response.
   */
  created?(body: NoInfer<B>): ResponseSubject
}

const storedHeaders = ['ETag', 'Cache-Control'] as const

/**
 * @param work may commit one transaction of `own` and must await nothing after it. The response is stored in the same
 * transaction.
 */
export async function onlyOnce<S extends number, B>(
  deps: HttpDeps,
  { req, res, status, created }: Call<S, B>,
  work: (own: HttpDeps) => Promise<B>,
): Promise<{ status: S; body: B | RawResponse }> {
  const claim = idempotencyClaim(req, res)
  if (!claim) return { status, body: await work(deps) }
  const fresh: { body?: B } = {}
  const answer = await answerOnce(deps, {
    claim,
    work: async (own) => {
      fresh.body = await work({ ...deps, ...own })
      return { status, headers: storedHeadersOf(res), body: fresh.body }
    },
    subjectOf: () => (fresh.body === undefined ? {} : (created?.(fresh.body) ?? {})),
    failure: (error) => errorResponse(error, contextOf(res).requestId),
  })
  return { status, body: fresh.body ?? new RawResponse((response) => replay(response, answer)) }
}

function markReplayed(res: Response): void {
  res.setHeader('Idempotency-Replayed', 'true')
}

function storedHeadersOf(res: Response): Record<string, string> {
  const given = storedHeaders.filter((name) => res.hasHeader(name))
  return Object.fromEntries(given.map((name) => [name, String(res.getHeader(name))]))
}

function replay(res: Response, { status, headers, body }: StoredResponse): void {
  markReplayed(res)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.status(status).json(body)
}

/**
 * Starts a run, or joins the run of an earlier request with the same `Idempotency-Key`.
 * @throws KeptFailure if the stored response is an error; the errors of `startOnce` and `join`.
 */
export async function startedOnce<T>(
  deps: HttpDeps,
  res: Response,
  { claim, start, join }: { claim: Claim | undefined; start(): Promise<T>; join(run: ClaimedRun): Promise<T> },
): Promise<T> {
  if (!claim) return start()
  const failure = (error: unknown) => errorResponse(error, contextOf(res).requestId)
  const outcome = await startOnce(deps, { claim, start, failure })
  if ('started' in outcome) return outcome.started
  markReplayed(res)
  if ('response' in outcome) throw new KeptFailure(outcome.response)
  return join(outcome.run)
}

/** Returns undefined without an `Idempotency-Key`. @throws AppError BadRequestError for a malformed key. */
export function idempotencyClaim(req: Request, res: Response): Claim | undefined {
  const key = req.headers['idempotency-key']
  if (key === undefined) return undefined
  return claimFor({
    apiKeyId: callerOf(res).apiKeyId,
    method: req.method,
    path: req.baseUrl + req.path.replace(/\/$/, ''),
    key: String(key),
    body: req.body,
    isSecret: matchedRoute(req).metadata.answersSecret === true,
    ...subjectOf(req),
  })
}

function subjectOf({ params }: Request): ResponseSubject {
  const projectId = Number(params['projectId'])
  const conversationUuid = readUuid(String(params['conversationUuid']))
  return {
    ...(projectId > 0 && projectId <= largestId && Number.isInteger(projectId) && { projectId }),
    ...(conversationUuid !== undefined && { conversationUuid }),
  }
}
