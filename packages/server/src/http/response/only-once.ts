/** Routes that honour `Idempotency-Key`: their work is done once, and repetitions get the answer of the first request. */
import { type contract, listRoutes } from '@stet/contract'
import type { Request, Response } from 'express'
import { answerOnce } from '../../features/idempotency/answer-once.ts'
import type { KeptAnswer } from '../../features/idempotency/ports.ts'
import type { HttpDeps } from '../http-deps.ts'
import { idempotencyClaim } from '../input/idempotency-key.ts'
import type { Routes } from '../mount.ts'
import { contextOf } from '../request/request-context.ts'
import { errorResponse } from './error-response.ts'

interface Call {
  req: Request
  res: Response
}
type Handler = (call: Call) => Promise<{ status: number; body: unknown }>
/** What ts-rest types by route, as it is at run time. */
type AnyRoutes = Record<string, Record<string, Handler>>

/**
 * Their answers need the database or a template after the commit, so they are kept after it. Repeated after a crash in
 * between, the first three change nothing further or are refused, and a draft is not published twice.
 */
const keptAfterCommit = new Set([
  'documents.create',
  'documents.getOrCreate',
  'documents.createOrUpdate',
  'versions.publish',
])

const keptHeaders = ['ETag', 'Cache-Control'] as const

/** @param routesFor the routes on any dependencies; runs look after their keys themselves. */
export function onlyOnce(
  deps: HttpDeps,
  routesFor: (deps: HttpDeps) => Routes<typeof contract>,
): Routes<typeof contract> {
  const routes = routesFor(deps) as unknown as AnyRoutes
  const wrapped: AnyRoutes = { ...routes }
  for (const { router, name, metadata } of listRoutes()) {
    const plain = routes[router]?.[name]
    if (!metadata.idempotent || metadata.streams || !plain) continue
    const handler: Handler = async (call) => {
      const claim = idempotencyClaim(call.req, call.res)
      if (!claim) return plain(call)
      const { answer, isReplayed } = await answerOnce(deps, {
        claim,
        isSecret: metadata.answersSecret === true,
        isAtomic: !keptAfterCommit.has(`${router}.${name}`),
        work: async (own) => {
          const ownRoutes = routesFor({ ...deps, ...own }) as unknown as AnyRoutes
          return toKept(call.res, await (ownRoutes[router]?.[name] ?? plain)(call))
        },
        failure: (error) => keptFailure(call.res, error),
      })
      if (isReplayed) replay(call.res, answer)
      return answer
    }
    wrapped[router] = { ...wrapped[router], [name]: handler }
  }
  return wrapped as unknown as Routes<typeof contract>
}

/** The answer to a failure, as it is kept. */
export function keptFailure(res: Response, error: unknown): KeptAnswer {
  return { ...errorResponse(error, contextOf(res).requestId) }
}

/** Says that the answer is that of an earlier request. */
export function markReplayed(res: Response): void {
  res.setHeader('Idempotency-Replayed', 'true')
}

function toKept(res: Response, { status, body }: { status: number; body: unknown }): KeptAnswer {
  const headers = keptHeaders.flatMap((name) => {
    const value = res.getHeader(name)
    return value === undefined ? [] : [[name, String(value)] as const]
  })
  return { status, headers: Object.fromEntries(headers), body }
}

function replay(res: Response, { headers }: KeptAnswer): void {
  markReplayed(res)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}
