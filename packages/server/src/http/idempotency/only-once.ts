/** Executes a request once per `Idempotency-Key`. Repeated requests get the stored response or join the run. */
import type { Request, Response } from 'express'
import { answerOnce } from '../../features/idempotency/answer-once.ts'
import { claimFor } from '../../features/idempotency/idempotency-key.ts'
import type { AnswerSubject, Claim, ClaimedRun, KeptAnswer } from '../../features/idempotency/ports.ts'
import { startOnce } from '../../features/idempotency/start-once.ts'
import { readUuid } from '../../shared/text-guards.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import { largestId } from '../body/address.ts'
import { errorResponse, KeptFailure } from '../body/error-response.ts'
import type { HttpDeps } from '../http-deps.ts'
import { matchedRoute } from '../mount.ts'
import { RawResponse } from '../raw-response.ts'

interface Call<S, B> {
  req: Request
  res: Response
  status: S
  /** A created resource that the path does not name. Deleting it also deletes the stored response. */
  created?(body: NoInfer<B>): AnswerSubject
}

const keptHeaders = ['ETag', 'Cache-Control'] as const

/** @param work commits its writes together with its response, so it must not await anything afterwards. */
export async function onlyOnce<S extends number, B>(
  deps: HttpDeps,
  { req, res, status, created }: Call<S, B>,
  work: (own: HttpDeps) => Promise<B>,
): Promise<{ status: S; body: B | RawResponse }> {
  const claim = idempotencyClaim(req, res)
  if (!claim) return { status, body: await work(deps) }
  const { answersSecret } = matchedRoute(req).metadata
  const fresh: { body?: B } = {}
  const answer = await answerOnce(deps, {
    claim,
    isSecret: answersSecret === true,
    work: async (own) => {
      fresh.body = await work({ ...deps, ...own })
      return { status, headers: keptHeadersOf(res), body: fresh.body }
    },
    subjectOf: () => (fresh.body === undefined ? {} : (created?.(fresh.body) ?? {})),
    failure: (error) => keptFailure(res, error),
  })
  return { status, body: fresh.body ?? new RawResponse((response) => replay(response, answer)) }
}

function keptFailure(res: Response, error: unknown): KeptAnswer {
  return { ...errorResponse(error, contextOf(res).requestId) }
}

function markReplayed(res: Response): void {
  res.setHeader('Idempotency-Replayed', 'true')
}

function keptHeadersOf(res: Response): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = res.getHeader(name)
    if (value !== undefined) headers[name] = String(value)
  }
  return headers
}

function replay(res: Response, { status, headers, body }: KeptAnswer): void {
  markReplayed(res)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.status(status).json(body)
}

interface OnceStart<T> {
  claim: Claim | undefined
  start(): Promise<T>
  join(run: ClaimedRun): Promise<T>
}

/** Starts a run, or joins an earlier request's run with the same `Idempotency-Key`. @throws the error of either. */
export async function startedOnce<T>(deps: HttpDeps, res: Response, { claim, start, join }: OnceStart<T>): Promise<T> {
  if (!claim) return start()
  const outcome = await startOnce(deps, { claim, start, failure: (error) => keptFailure(res, error) })
  if ('started' in outcome) return outcome.started
  markReplayed(res)
  if ('answer' in outcome) throw new KeptFailure(outcome.answer)
  return join(outcome.run)
}

/** Returns undefined without an `Idempotency-Key`. @throws AppError BadRequestError. */
export function idempotencyClaim(req: Request, res: Response): Claim | undefined {
  const key = req.headers['idempotency-key']
  if (key === undefined) return undefined
  return claimFor({
    apiKeyId: callerOf(res).apiKeyId,
    method: req.method,
    path: req.baseUrl + req.path.replace(/\/$/, ''),
    key: String(key),
    body: req.body,
    ...subjectOf(req),
  })
}

function subjectOf({ params }: Request): AnswerSubject {
  const projectId = Number(params['projectId'])
  const conversationUuid = readUuid(String(params['conversationUuid']))
  return {
    ...(projectId > 0 && projectId <= largestId && Number.isInteger(projectId) && { projectId }),
    ...(conversationUuid !== undefined && { conversationUuid }),
  }
}
