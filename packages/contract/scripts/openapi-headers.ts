import type { RouteMetadata } from '../src/routes.ts'
import type { JsonSchema } from './component-schemas.ts'

export const REQUEST_HEADERS = {
  'X-Request-Id':
    'Identifies the request in the response and in the log: `^[A-Za-z0-9._-]{1,128}$`. Other values are replaced.',
  'Content-Encoding': 'The compression of the body: `gzip`, `deflate` or `br`.',
  'X-Latitude-SDK-Version':
    'The version of a legacy client. It decides whether `tools-requested` is sent, whether a background run may be ' +
    'streamed, and which messages and parts are omitted.',
  'Idempotency-Key':
    'A repeated request with the same key gets the first response. 1 to 255 printable ASCII characters.',
  'If-Match': 'The required `contentHash` in quotes, or `*` for any existing prompt. 412 if it does not match.',
  'If-None-Match': 'GET: 304 if it is the current ETag. Write: `*` requires that the prompt does not exist.',
  'Last-Event-ID':
    'With `stream`: only events after this one. If absent or not an integer, all events of the latest run.',
  'X-Stet-Console': '`1`. A page of another site cannot send it, so it cannot open a session.',
} as const
type RequestHeader = keyof typeof REQUEST_HEADERS

export function requestHeaders(route: RouteMetadata, hasBody: boolean): RequestHeader[] {
  return [
    'X-Request-Id',
    ...(hasBody ? (['Content-Encoding'] as const) : []),
    ...(route.showsMessages ? (['X-Latitude-SDK-Version'] as const) : []),
    ...(route.idempotent ? (['Idempotency-Key'] as const) : []),
    ...(route.preconditions ?? []),
    ...(route.resumes ? (['Last-Event-ID'] as const) : []),
    ...(route.isPublic ? (['X-Stet-Console'] as const) : []),
  ]
}

const header = (description: string, type: 'string' | 'integer'): JsonSchema => ({ description, schema: { type } })

export const RESPONSE_HEADERS = {
  'X-Request-Id': header('Identifies the request in the log.', 'string'),
  'X-RateLimit-Limit': header('Requests per second of the key. Absent without a valid key.', 'integer'),
  'X-RateLimit-Remaining': header('The requests left in this second.', 'integer'),
  'X-RateLimit-Reset': header('The end of this second, in epoch milliseconds.', 'integer'),
  'X-Conversation-Uuid': header(
    'The conversation of a run, a chat or an attach. Also on errors, if the conversation exists.',
    'string',
  ),
  ETag: header('The `contentHash` in quotes.', 'string'),
  'Idempotency-Replayed': header('`true` if this is the response to an earlier request with the same key.', 'string'),
  'Set-Cookie': header('On 201: the cookie of the session.', 'string'),
  'WWW-Authenticate': header('`Bearer`.', 'string'),
  'Retry-After': header('Whole seconds, at least 1.', 'integer'),
} as const satisfies Record<string, JsonSchema>
type ResponseHeader = keyof typeof RESPONSE_HEADERS

const rateLimit = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/** @param isDocument whether the body is one prompt */
export function successHeaders(route: RouteMetadata, isDocument: boolean): JsonSchema {
  return references([
    'X-Request-Id',
    ...(route.isPublic ? [] : rateLimit),
    ...(route.streams ? (['X-Conversation-Uuid'] as const) : []),
    ...(isDocument ? (['ETag'] as const) : []),
    ...(route.idempotent ? (['Idempotency-Replayed'] as const) : []),
    ...(route.isPublic ? (['Set-Cookie'] as const) : []),
  ])
}

/** Every error with this status has these headers on all routes. */
export function errorHeaders(status: number): JsonSchema {
  return references([
    'X-Request-Id',
    ...(status === 401 ? (['WWW-Authenticate'] as const) : rateLimit),
    ...([400, 409, 413, 415, 422].includes(status) ? (['X-Conversation-Uuid'] as const) : []),
    ...([409, 429, 503].includes(status) ? (['Retry-After'] as const) : []),
  ])
}

function references(names: readonly ResponseHeader[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
