/** What is known of one request beside its input: id, caller, client generation, route. */
import type { RequestHandler, Response } from 'express'
import type { Caller } from '../../features/access/caller.ts'
import { type ClientGeneration, clientGeneration } from './client-generation.ts'
import { requestIdFrom } from './request-id.ts'

export interface RequestContext {
  requestId: string
  client: ClientGeneration
  /** Set by authentication. */
  caller: Caller | undefined
  /** The contract's path, e.g. `/projects/:projectId`; set once a route matched. */
  route: string | undefined
}

const contexts = new WeakMap<object, RequestContext>()

/** First of all middlewares: the id and the headers that every response carries. */
export const requestContext: RequestHandler = (req, res, next) => {
  const requestId = requestIdFrom(req.get('x-request-id'))
  contexts.set(res, {
    requestId,
    client: clientGeneration(req.get('x-latitude-sdk-version')),
    caller: undefined,
    route: undefined,
  })
  res.setHeader('X-Request-Id', requestId)
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader('X-Frame-Options', 'DENY')
  res.setHeader('Referrer-Policy', 'no-referrer')
  res.setHeader('Cache-Control', 'no-store')
  next()
}

export function contextOf(res: Response): RequestContext {
  const context = contexts.get(res)
  if (!context) throw new Error('requestContext must run before everything else')
  return context
}

/** The caller of an authenticated route. */
export function callerOf(res: Response): Caller {
  const { caller } = contextOf(res)
  if (!caller) throw new Error('authenticate must run before the routes')
  return caller
}
