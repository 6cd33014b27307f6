/** Does the work of a request once per `Idempotency-Key`; repetitions get the stored response. Runs have `run-answer.ts`. */

import type { RouteMetadata } from '@stet/contract'
import type { Request, Response } from 'express'
import { answerOnce } from '../../features/idempotency/answer-once.ts'
import type { AnswerSubject, KeptAnswer } from '../../features/idempotency/ports.ts'
import type { HttpDeps } from '../http-deps.ts'
import { idempotencyClaim } from '../input/idempotency-key.ts'
import { matchedRoute, ResponseTap } from '../mount.ts'
import { contextOf } from '../request/request-context.ts'
import { errorResponse } from './error-response.ts'

interface Call<S, B> {
  req: Request
  res: Response
  /** Of the route's success. */
  status: S
  /** What the work creates and the path does not name: the stored response is deleted with it. */
  created?(body: NoInfer<B>): AnswerSubject
}

const keptHeaders = ['ETag', 'Cache-Control'] as const

/** @param work commits its writes together with its response, so it awaits nothing after them. */
export async function onlyOnce<S extends number, B>(
  deps: HttpDeps,
  { req, res, status, created }: Call<S, B>,
  work: (own: HttpDeps) => Promise<B>,
): Promise<{ status: S; body: B | ResponseTap }> {
  const claim = idempotencyClaim(req, res)
  if (!claim) return { status, body: await work(deps) }
  const { answersSecret } = matchedRoute(req).metadata as RouteMetadata
  const fresh: { body?: B } = {}
  const { answer } = await answerOnce(deps, {
    claim,
    isSecret: answersSecret === true,
    work: async (own) => {
      fresh.body = await work({ ...deps, ...own })
      return { status, headers: keptHeadersOf(res), body: fresh.body }
    },
    subjectOf: () => (fresh.body === undefined ? {} : (created?.(fresh.body) ?? {})),
    failure: (error) => keptFailure(res, error),
  })
  return { status, body: fresh.body ?? new ResponseTap((response) => replay(response, answer)) }
}

/** The response to a failure, as it is stored. */
export function keptFailure(res: Response, error: unknown): KeptAnswer {
  return { ...errorResponse(error, contextOf(res).requestId) }
}

/** Marks the response as that of an earlier request. */
export function markReplayed(res: Response): void {
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
