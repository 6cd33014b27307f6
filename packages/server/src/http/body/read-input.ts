import { type RouteMetadata, readsBody } from '@stet/contract'
import type { RequestHandler } from 'express'
import { refuseText } from '../../shared/text-guard.ts'
import { matchedRoute } from '../mount.ts'
import { invalidRequest } from './invalid-request.ts'
import { readJsonBody } from './json-body.ts'

/** Query and body of a matched route, before its schema sees them. Bodies of GET and of most DELETE are ignored. */
export function readInput(limitBytes: number): RequestHandler {
  return async (req, _res, next) => {
    refuseQuery(req.query)
    const metadata = matchedRoute(req).metadata as RouteMetadata
    if (metadata.ignoresBody) req.body = {}
    else if (readsBody(req, metadata)) req.body = await readJsonBody(req, limitBytes)
    next()
  }
}

function refuseQuery(query: object): void {
  for (const [key, value] of Object.entries(query)) {
    const reason = refuseText(key) ?? refuseText(String(value))
    if (reason !== undefined) throw invalidRequest('refused-query', [{ path: [key], code: 'custom', message: reason }])
  }
}
