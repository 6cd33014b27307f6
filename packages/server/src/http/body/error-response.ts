/** Converts failures to status, headers and error body. Hides the messages of unexpected failures. */
import { type CauseEntry, ERROR_CAUSES, statusOf } from '@stet/contract'
import type { ErrorBody, ErrorCode } from '@stet/contract/vocabulary'
import type { ErrorRequestHandler, Request, Response } from 'express'
import { findConversation } from '../../features/conversations/find-conversation.ts'
import type { StoredResponse } from '../../features/idempotency/ports.ts'
import { AppError, RunError, refuse } from '../../shared/app-error.ts'
import type { LogFields, Logger } from '../../shared/telemetry.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import type { HttpDeps } from '../http-deps.ts'
import { discardBody } from './read-body.ts'

export interface ErrorResponse {
  status: number
  headers: Record<string, string>
  body: ErrorBody
}

export class KeptFailure extends Error {
  override readonly name = 'KeptFailure'
  readonly answer: ErrorResponse

  constructor(answer: StoredResponse) {
    super(`Answered ${answer.status} before`)
    this.answer = { ...answer, body: answer.body as ErrorBody }
  }
}

const attachPath = /\/conversations\/[^/?]*\/attach\/?(?:\?|$)/

/**
 * @param requestId included in the response to an unexpected failure, so that the operator can find the matching log
 * line.
 */
export function errorResponse(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof KeptFailure) return error.answer
  if (error instanceof RunError) return runErrorResponse(error)
  if (error instanceof AppError) return appErrorResponse(error)
  if (isRefusedByRouter(error)) return errorResponse(refuse('malformed-path'), requestId)
  return appErrorResponse(refuse('unforeseen', { requestId }))
}

/** The answer to a failed request, in the form of one interface. */
export type ShowError = (
  error: unknown,
  req: Request,
  requestId: string,
) => { status: number; headers: Record<string, string>; body: object }

const showError: ShowError = (error, req, requestId) => {
  const { body, ...rest } = errorResponse(error, requestId)
  const isAttach = req.method === 'POST' && attachPath.test(req.originalUrl)
  return { ...rest, body: isAttach ? { ...body, error: { message: body.message } } : body }
}

export function errorHandler(log: Logger, show: ShowError = showError): ErrorRequestHandler {
  return (error, req, res, next) => {
    const { requestId, route, span } = contextOf(res)
    const { status, headers, body } = show(error, req, requestId)
    if (status === 500 && !(error instanceof KeptFailure)) {
      log.error('http.unforeseen-failure', { requestId, route, ...failureFields(error), ...span?.ids })
    }
    if (res.headersSent) {
      // Only closing the connection can still signal the failure.
      req.socket.destroy()
      next()
      return
    }
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    res.setHeader('Cache-Control', 'no-store')
    res.removeHeader('ETag')
    if (req.complete) res.status(status).json(body)
    else answerWhileSending(req, res.status(status), JSON.stringify(body))
  }
}

/** Writes the response now, but ends it after `discardBody`, because ending it closes the connection. */
function answerWhileSending(req: Request, res: Response, text: string): void {
  res.setHeader('Connection', 'close')
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', Buffer.byteLength(text))
  res.write(text)
  void discardBody(req).then(() => res.end())
}

function appErrorResponse(error: AppError): ErrorResponse {
  const status = statusOf(error.reason)
  const { allow, retryAfter = status === 503 ? 1 : undefined } = error.details
  const headers: Record<string, string> = {}
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer'
  if (Array.isArray(allow)) headers['Allow'] = allow.join(', ')
  if (typeof retryAfter === 'number') headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfter)))
  const { isLasting }: CauseEntry = ERROR_CAUSES[error.reason]
  if (isLasting) headers['X-Should-Retry'] = 'false'
  return {
    status,
    headers,
    body: {
      name: error.code,
      message: error.message,
      errorCode: error.code === 'InternalServerError' ? 'internal_server_error' : error.code,
      reason: error.reason,
      details: error.details,
    },
  }
}

function runErrorResponse(error: RunError): ErrorResponse {
  const { conversationUuid } = error.details
  return {
    status: 422,
    headers: typeof conversationUuid === 'string' ? { 'X-Conversation-Uuid': conversationUuid } : {},
    body: {
      name: 'DocumentRunError',
      message: error.message,
      errorCode: error.code,
      // A prompt that does not compile is refused before a conversation exists.
      reason: error.code === 'chain_compile_error' && !conversationUuid ? 'prompt-does-not-compile' : 'run-failed',
      details: { ...error.details, errorCode: error.code },
    },
  }
}

// Express throws a URIError with status 400 for a path parameter with an invalid percent escape.
function isRefusedByRouter(error: unknown): boolean {
  return error instanceof URIError && 'status' in error && error.status === 400
}

/** Omits the error's message, because driver messages quote statements and values, which may contain prompts. */
export function failureFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { reason: typeof error, code: undefined, frames: undefined }
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { reason: error.name, code, frames: frames?.join('\n') }
}

const conversationPath = /^\/conversations\/([^/]+)\/(?:chat|attach)\/?$/

// After these errors, the conversation may be hidden from the caller, or the lookup may fail.
const silent = new Set<ErrorCode>(['ForbiddenError', 'NotFoundError', 'InternalServerError', 'ServiceUnavailableError'])

/**
 * Sets `X-Conversation-Uuid` on refused chat and attach requests, if the caller may see the conversation. A request
 * with an invalid body never reaches the handler that would set the header.
 */
export function nameConversation(deps: HttpDeps): ErrorRequestHandler {
  return async (error, req, res, next) => {
    const [, conversationUuid] = conversationPath.exec(req.path) ?? []
    if (conversationUuid !== undefined && error instanceof AppError && !silent.has(error.code)) {
      const found = await findConversation(deps, { caller: callerOf(res), conversationUuid }).catch(() => undefined)
      if (found) res.setHeader('X-Conversation-Uuid', found.uuid)
    }
    next(error)
  }
}
