import type { Outcome } from '../api-promise.ts'
import { ApiError, errorClassOf, RunError } from '../errors.ts'
import type { Answer } from './exchange.ts'
import type { Settings } from './settings.ts'

const KEPT_CHARACTERS = 2048

/** Builds the error for a failed response. Also handles bodies from other servers, HTML and empty bodies. */
export function errorFromResponse(answer: Answer): ApiError {
  const { response, context } = answer
  const { status, statusText, headers } = response
  const body = parseObject(answer.text)
  const type = errorClassOf(status)
  const init = {
    ...factsOf(answer),
    errorCode: textOf(body.errorCode) ?? textOf(body.name) ?? type.prototype.name,
    message: textOf(body.message) ?? textOf(asObject(body.error).message) ?? (statusText || 'no explanation'),
    reason: textOf(body.reason),
    details: body.details ?? {},
    context: status === 404 ? context : undefined,
  }
  if (body.name !== 'DocumentRunError') return new type(init)
  const conversationUuid =
    textOf(asObject(body.details).conversationUuid) ?? headers.get('x-conversation-uuid') ?? undefined
  return new RunError({ ...init, prompt: answer.prompt, conversationUuid, partial: { text: '', conversation: [] } })
}

/** Builds the error for a 2xx response that does not come from stet, for example a login page. */
function invalidAnswer(answer: Answer, expected: string): ApiError {
  return new ApiError({
    ...factsOf(answer),
    errorCode: 'invalid_response',
    message: `The response is not ${expected}. Check that baseUrl is the address of a stet server`,
    details: {},
  })
}

/**
 * Returns the error, or a clearer one if the response came from a server other than stet. Every response of stet has a
 * request id.
 */
export async function explained(settings: Settings, error: ApiError): Promise<ApiError> {
  if (error.requestId || !/2..|40[45]/.test(`${error.status}`)) return error
  const { explainForeign } = await import('./foreign-host.ts')
  return explainForeign(settings, error)
}

export async function parseAnswer<T>(settings: Settings, answer: Answer): Promise<Outcome<T>> {
  const { text, response } = answer
  // A 304 answers an `If-None-Match` header of the caller, so there is no body to parse.
  if (response.status === 304) throw errorFromResponse(answer)
  try {
    // The client does not validate the body, because the server's tests check responses against the contract.
    return { data: JSON.parse(text) as T, response: new Response(text, response) }
  } catch {
    throw await explained(settings, invalidAnswer(answer, 'JSON'))
  }
}

/** Throws unless the response is an event stream. The body of an event stream stays unread. */
export async function requireEvents(answer: Answer): Promise<void> {
  const { response } = answer
  if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')) return
  const failed = { ...answer, text: await response.text() }
  throw response.ok ? invalidAnswer(failed, 'an event stream') : errorFromResponse(failed)
}

export function factsOf({ response: { status, headers }, text, method, url, attempts }: Answer) {
  const serverResponse = text.slice(0, KEPT_CHARACTERS)
  return { status, requestId: headers.get('x-request-id'), headers, serverResponse, method, url, attempts }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return {}
  }
}

// Reading a key throws only for null and undefined, so other values pass unchanged.
function asObject(value: unknown): Record<string, unknown> {
  return (value ?? {}) as Record<string, unknown>
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
