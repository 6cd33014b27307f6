import type { Request, Response } from 'express'
import { type Claim, claimFor } from '../../features/idempotency/claim.ts'
import { callerOf } from '../request/request-context.ts'

/** What the caller's `Idempotency-Key` claims; undefined without one. @throws AppError BadRequestError. */
export function idempotencyClaim(req: Request, res: Response): Claim | undefined {
  const key = req.headers['idempotency-key']
  if (key === undefined) return undefined
  return claimFor({
    apiKeyId: callerOf(res).apiKeyId,
    method: req.method,
    path: req.baseUrl + req.path.replace(/\/$/, ''),
    key: String(key),
    body: req.body,
  })
}
