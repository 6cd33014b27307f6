import type { Request, Response } from 'express'
import { claimFor } from '../../features/idempotency/idempotency-key.ts'
import type { AnswerSubject, Claim } from '../../features/idempotency/ports.ts'
import { readUuid } from '../../shared/uuid.ts'
import { callerOf } from '../request/request-context.ts'

const largestId = 2_147_483_647

/** The record for the caller's `Idempotency-Key`; undefined without one. @throws AppError BadRequestError. */
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

/** The project and the conversation that the path names; an id that cannot exist names none. */
function subjectOf({ params }: Request): AnswerSubject {
  const projectId = Number(params['projectId'])
  const conversationUuid = readUuid(String(params['conversationUuid']))
  return {
    ...(projectId > 0 && projectId <= largestId && Number.isInteger(projectId) && { projectId }),
    ...(conversationUuid !== undefined && { conversationUuid }),
  }
}
