/** Errors in the form of OpenAI's API. `param` and `code` are always texts: some clients drop the message otherwise. */
import { DoorRefusal } from '../../wire/openai/fields.ts'
import { type ErrorResponse, errorResponse, type ShowError } from '../body/error-response.ts'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** Codes by cause, where this interface has its own word. */
const codes: Readonly<Record<string, string>> = {
  'unknown-document': 'model_not_found',
  'unknown-version': 'model_not_found',
  'nothing-live': 'model_not_found',
  'unknown-project': 'model_not_found',
  'unknown-run': 'response_not_found',
  'unknown-route': 'unknown_route',
}

/** Also for a run of the API: it is no response. */
export const noSuchResponse = 'There is no such response, or this key may not see it'

export const showDoorError: ShowError = (error, _req, requestId) => {
  if (error instanceof DoorRefusal) {
    const { status, message, param, code } = error
    const stet = { name: status === 404 ? 'NotFoundError' : 'BadRequestError', details: {} }
    return { status, headers: {}, body: { error: { message, type: 'invalid_request_error', param, code, stet } } }
  }
  return inDoorForm(errorResponse(error, requestId))
}

function inDoorForm({ status, headers, body }: ErrorResponse): ReturnType<ShowError> {
  const code = codeOf(status, body)
  const shown = {
    message: body.reason === 'unknown-run' ? noSuchResponse : body.message,
    type: status >= 500 ? 'server_error' : (types[status] ?? 'invalid_request_error'),
    param: code === 'model_not_found' ? 'model' : '',
    code,
    stet: { name: body.name, details: body.details ?? {} },
  }
  // OpenAI's clients repeat every 5xx by themselves, and a repeated run costs money.
  return {
    status,
    headers: { ...headers, ...(status === 500 && { 'X-Should-Retry': 'false' }) },
    body: { error: shown },
  }
}

function codeOf(status: number, { name, reason, errorCode, details }: ErrorResponse['body']): string {
  if (status === 401) return 'invalid_api_key'
  // A missing scope, for example.
  if (status === 403) return textOf(details?.['reason']) || reason
  if (name === 'DocumentRunError' && reason === 'run-failed') return errorCode
  if (status === 500) return errorCode
  return codes[reason] ?? reason
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
