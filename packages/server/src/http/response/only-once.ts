/** Routes that honour `Idempotency-Key`: their work is done once, and repetitions get the answer of the first request. */
import type { RouteMetadata } from '@stet/contract'
import type { Request, Response } from 'express'
import { answerOnce } from '../../features/idempotency/answer-once.ts'
import type { AnswerSubject } from '../../features/idempotency/idempotency-key.ts'
import type { KeptAnswer } from '../../features/idempotency/ports.ts'
import type { HttpDeps } from '../http-deps.ts'
import { idempotencyClaim } from '../input/idempotency-key.ts'
import { ResponseTap } from '../mount.ts'
import { contextOf } from '../request/request-context.ts'
import { errorResponse } from './error-response.ts'

interface Call {
  req: Request
  res: Response
}

interface Answer<S, B> {
  status: S
  body: B
}

const keptHeaders = ['ETag', 'Cache-Control'] as const

/**
 * The handler of an idempotent route; runs look after their keys themselves.
 *
 * @param success the status of the route.
 * @param bind the handler on the dependencies of one request: its writes are committed together with its answer, so it
 * awaits nothing after them.
 * @param created what the answer tells of that its path does not name: the stored answer is deleted with it.
 */
export function onlyOnce<C extends Call, S extends number, B>(
  deps: HttpDeps,
  { metadata }: { metadata: RouteMetadata },
  success: S,
  bind: (own: HttpDeps) => (call: C) => Promise<Answer<S, B>>,
  created: (body: B) => AnswerSubject = () => ({}),
): (call: C) => Promise<Answer<S, B | ResponseTap>> {
  const plain = bind(deps)
  const isSecret = metadata.answersSecret === true
  return async (call) => {
    const { req, res } = call
    const claim = idempotencyClaim(req, res)
    if (!claim) return plain(call)
    const fresh: { answer?: Answer<S, B> } = {}
    const { answer } = await answerOnce(deps, {
      claim,
      isSecret,
      work: async (own) => {
        fresh.answer = await bind({ ...deps, ...own })(call)
        return toKept(res, fresh.answer)
      },
      subjectOf: () => (fresh.answer ? created(fresh.answer.body) : {}),
      failure: (error) => keptFailure(res, error),
    })
    return fresh.answer ?? { status: success, body: new ResponseTap((response) => replay(response, answer)) }
  }
}

/** The answer to a failure, as it is kept. */
export function keptFailure(res: Response, error: unknown): KeptAnswer {
  return { ...errorResponse(error, contextOf(res).requestId) }
}

/** Says that the answer is that of an earlier request. */
export function markReplayed(res: Response): void {
  res.setHeader('Idempotency-Replayed', 'true')
}

function toKept(res: Response, { status, body }: Answer<number, unknown>): KeptAnswer {
  const headers = keptHeaders.flatMap((name) => {
    const value = res.getHeader(name)
    return value === undefined ? [] : [[name, String(value)] as const]
  })
  return { status, headers: Object.fromEntries(headers), body }
}

function replay(res: Response, { status, headers, body }: KeptAnswer): void {
  markReplayed(res)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.status(status).json(body)
}
