/** Refusals of chat and attach name the conversation, as every other answer there does. */
import type { ErrorCode } from '@stet/contract/vocabulary'
import type { ErrorRequestHandler } from 'express'
import { findConversation } from '../../features/conversations/find-conversation.ts'
import { AppError } from '../../shared/app-error.ts'
import type { HttpDeps } from '../http-deps.ts'
import { callerOf } from '../request/request-context.ts'

const conversationPath = /^\/conversations\/([^/]+)\/(?:chat|attach)\/?$/

// Where the caller may not know of the conversation, or nothing can be looked up.
const silent = new Set<ErrorCode>(['ForbiddenError', 'NotFoundError', 'InternalServerError', 'ServiceUnavailableError'])

/** Before the handler that answers errors: a refused body has not come to the conversation that it was sent to. */
export function nameConversation(deps: HttpDeps): ErrorRequestHandler {
  return async (error, req, res, next) => {
    const [, conversationUuid] = conversationPath.exec(req.path) ?? []
    if (conversationUuid !== undefined && error instanceof AppError && !silent.has(error.code)) {
      // One that is not there, or cannot be looked up now, has no name to tell: the refusal stays what it is.
      const found = await findConversation(deps, { caller: callerOf(res), conversationUuid }).catch(() => undefined)
      if (found) res.setHeader('X-Conversation-Uuid', found.uuid)
    }
    next(error)
  }
}
