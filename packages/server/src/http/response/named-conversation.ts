/** Refusals of chat and attach name the conversation, as every other answer there does. */
import type { ErrorCode } from '@stet/contract/vocabulary'
import type { ErrorRequestHandler } from 'express'
import { findConversation } from '../../features/conversations/find-conversation.ts'
import { AppError } from '../../shared/app-error.ts'
import type { HttpDeps } from '../http-deps.ts'
import { callerOf } from '../request/request-context.ts'

const conversationPath = /^\/conversations\/([^/]+)\/(?:chat|attach)\/?$/

// If the caller may not see the conversation, or it cannot be looked up.
const silent = new Set<ErrorCode>(['ForbiddenError', 'NotFoundError', 'InternalServerError', 'ServiceUnavailableError'])

/** Before the error handler, because a refused body never reached its conversation. */
export function nameConversation(deps: HttpDeps): ErrorRequestHandler {
  return async (error, req, res, next) => {
    const [, conversationUuid] = conversationPath.exec(req.path) ?? []
    if (conversationUuid !== undefined && error instanceof AppError && !silent.has(error.code)) {
      // A conversation that is missing or cannot be looked up is not named; the error stays unchanged.
      const found = await findConversation(deps, { caller: callerOf(res), conversationUuid }).catch(() => undefined)
      if (found) res.setHeader('X-Conversation-Uuid', found.uuid)
    }
    next(error)
  }
}
