/** The only importer of @ts-rest/express: contract + handlers -> routes. */
import { Stream } from 'node:stream'
import type { AppRouter } from '@ts-rest/core'
import { createExpressEndpoints } from '@ts-rest/express'
import type { Request, RequestHandler, Response, Router } from 'express'
import { z } from 'zod'
import { checkedBody } from './body/checked-body.ts'
import { invalidRequest, type RequestIssue } from './body/invalid-request.ts'

/** The handlers of one router of the contract. */
export type Routes<T extends AppRouter> = Parameters<typeof createExpressEndpoints<T>>[1]

/**
 * A body that writes the response itself: event streams and ready-made bytes. ts-rest only tests for `Stream` and then
 * calls `pipe`; a real Readable would be piped without content type, error listener or clean-up.
 */
export class ResponseTap extends Stream {
  readonly #write: (res: Response) => void

  constructor(write: (res: Response) => void) {
    super()
    this.#write = write
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T): T {
    // ts-rest hands over nothing but the Express response here.
    this.#write(destination as unknown as Response)
    return destination
  }
}

/** @param before run for a matched route, before validation and handler; the request has the route. */
export function mountContract<T extends AppRouter>(options: {
  contract: T
  routes: Routes<T>
  router: Router
  before: RequestHandler[]
  validateResponses: boolean
}): void {
  // Options replace the defaults as a whole, so all of them are listed here.
  createExpressEndpoints(withCheckedBodies(options.contract), options.routes, options.router, {
    logInitialization: false,
    jsonQuery: false,
    responseValidation: options.validateResponses,
    globalMiddleware: options.before as never[],
    requestValidationErrorHandler: (error, _req, _res, next) => {
      const parts = [error.pathParams, error.query, error.headers, error.body]
      const issues = parts.flatMap((part) => (part ? part.issues.map(requestIssue) : []))
      next(invalidRequest(error.query ? 'invalid-query' : 'invalid-body', issues))
    },
  })
}

// The contract's own types stay: a checked body reads as its schema does.
function withCheckedBodies<T extends AppRouter>(contract: T): T {
  const entries = Object.entries(contract).map(([name, entry]) => {
    if (!('method' in entry)) return [name, withCheckedBodies(entry)]
    const body = 'body' in entry ? entry.body : undefined
    return [name, body instanceof z.ZodType ? { ...entry, body: checkedBody(body) } : entry]
  })
  return Object.fromEntries(entries) as T
}

/** The contract's route that a request matched. */
export function matchedRoute(req: Request): MatchedRoute {
  const { tsRestRoute } = req as Request & { tsRestRoute?: MatchedRoute }
  if (!tsRestRoute) throw new Error('Only a matched route has a description')
  return tsRestRoute
}

export interface MatchedRoute {
  method: string
  path: string
  metadata: unknown
}

function requestIssue(issue: object): RequestIssue {
  const { path, code, message } = issue as { path?: readonly unknown[]; code?: string; message: string }
  return { path: (path ?? []).map(issueKey), code: code ?? 'custom', message }
}

function issueKey(part: unknown): PropertyKey {
  if (typeof part === 'object' && part !== null && 'key' in part) return issueKey(part.key)
  return typeof part === 'number' ? part : String(part)
}
