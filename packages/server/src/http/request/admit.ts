import type { RequestHandler } from 'express'
import type { HttpDeps } from '../http-deps.ts'
import { authenticate } from './authenticate.ts'
import { refuseWhileStopping } from './drain.ts'
import { requirePlace } from './place.ts'
import { limitRate } from './rate-limit.ts'
import { contextOf } from './request-context.ts'

/** What every request under the API prefix passes before its route, in the order of the refusals. */
export function admit(deps: HttpDeps): RequestHandler {
  return async (req, res, next) => {
    refuseWhileStopping(deps.drain)
    await requirePlace(deps.place)
    contextOf(res).caller = await authenticate(deps, req)
    await limitRate(deps, res)
    next()
  }
}
