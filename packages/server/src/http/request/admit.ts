import type { RequestHandler } from 'express'
import { refuse } from '../../shared/app-error.ts'
import type { HttpDeps, Place } from '../http-deps.ts'
import { authenticate } from './authenticate.ts'
import { refuseWhileStopping } from './drain.ts'
import { limitRate } from './rate-limit.ts'
import { contextOf } from './request-context.ts'

/** The checks of every request under the API prefix before its route, in order. */
export function admit(deps: HttpDeps): RequestHandler {
  return async (req, res, next) => {
    refuseWhileStopping(deps.drain)
    if (!deps.place.isConfirmed()) await requirePlace(deps.place)
    contextOf(res).caller = await authenticate(deps, req)
    await limitRate(deps, res)
    next()
  }
}

/** Asks again before the route: a body may take half a minute to arrive, and the place can be lost by then. */
export function keepsPlace({ place }: Pick<HttpDeps, 'place'>): RequestHandler {
  return async (_req, _res, next) => {
    if (!place.isConfirmed()) await requirePlace(place)
    next()
  }
}

/** @throws AppError ServiceUnavailableError, before everything that begins work or reads a cache. */
async function requirePlace(place: Place): Promise<void> {
  if (await place.confirm()) return
  throw refuse('database-unavailable')
}
