/** Converts provider failures and incomplete responses to ProviderError, without secrets. */
import type { IncomingHttpHeaders } from 'node:http'
import { ProviderError, type ProviderErrorKind } from '../../../features/providers/provider-error.ts'
import { storableText } from '../../../shared/text-guards.ts'
import { asList, asNumber, asObject, asText, isBlank, isObject, type Json } from '../json.ts'
import { keys } from '../request/body.ts'
import { headerText, unreadableAnswer } from '../transport/transport.ts'

/** @param token the secret to remove from the provider's message. */
export function statusFailure(
  { statusCode: status, headers }: { statusCode: number; headers: IncomingHttpHeaders },
  body: string,
  token: string,
  now: Date,
): ProviderError {
  const failure = failureObject(body)
  const message = errorText(failure?.['error'] ?? failure)
  return new ProviderError(kindOf(status), `The provider answered with status ${status}`, {
    status,
    providerMessage: scrubbed(message ?? pageText(body), token),
    retryAfterMs: retryAfterOf(headers, now) ?? retryDelayIn(failure),
  })
}

/** Converts an error inside a response. @param status the equivalent HTTP status, if known. */
export function brokenOff(status: number | undefined, error: unknown, token: string): ProviderError {
  const kind = status === undefined ? 'unavailable' : kindOf(status)
  const providerMessage = scrubbed(errorText(error) ?? JSON.stringify(error) ?? '', token)
  return new ProviderError(kind, 'The provider ended its response with an error', { status, providerMessage })
}

/** @param words what the provider sent in place of the rest. */
export function brokenInTheMiddle(words = '', token = ''): ProviderError {
  return malformed("The provider's response was cut off", words, token)
}

/** @param words what the provider sent in place of the call. */
export function lostCall(words: string, token: string): ProviderError {
  return malformed('The provider announced a tool call, but sent none', words, token)
}

/** @param words what the provider sent in place of an answer. */
export function unreadable(words = '', token = ''): ProviderError {
  return malformed(unreadableAnswer, words, token)
}

function malformed(message: string, words: string, token: string): ProviderError {
  return new ProviderError(
    'malformed',
    message,
    words === '' ? {} : { providerMessage: scrubbed(pageText(words), token) },
  )
}

/** Returns the error for content that stet's messages cannot represent. */
export function uncarried(contentType: string): ProviderError {
  const shown = contentType.slice(0, 100)
  const message = `The answer holds content of type '${shown}', which stet cannot carry`
  return new ProviderError('uncarried', message, { contentType: shown })
}

function kindOf(status: number): ProviderErrorKind {
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  return status >= 500 ? 'unavailable' : 'rejected'
}

/**
 * Returns the wait in milliseconds. Prefers the more precise `retry-after-ms` of some providers. `Retry-After` contains
 * seconds or a date.
 */
function retryAfterOf(headers: IncomingHttpHeaders, now: Date): number | undefined {
  const fine = waitOf(Number.parseFloat(headerText(headers, 'retry-after-ms') ?? ''))
  if (fine !== undefined) return fine
  const text = headerText(headers, 'retry-after')
  if (text === undefined) return undefined
  const seconds = Number(text)
  return waitOf(Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - now.getTime())
}

/** Returns the wait in milliseconds from the body, because Google sends no `Retry-After` header. */
function retryDelayIn(failure: Json = {}): number | undefined {
  const { details } = asObject(failure['error'])
  const delays = asList(details).map((detail) => asText(asObject(detail)['retryDelay']))
  return waitOf(Number.parseFloat(delays.find((delay) => delay !== '') ?? '') * 1000)
}

function waitOf(ms: number): number | undefined {
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** Returns undefined for a body that is not JSON. Google wraps the object in a list. */
function failureObject(body: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed
    return typeof first === 'string' ? { error: first } : asObject(first)
  } catch {
    return undefined
  }
}

/** The names under which services report the text of an error, by precedence. */
const messageKeys = 'message detail msg status_msg error_msg error_message errorMessage Message errors'.split(' ')

function errorText(error: unknown): string | undefined {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return undefined
  const failure = asObject(error)
  const { failed_generation, metadata } = failure
  const said = messageKeys.map((key) => messageText(failure[key])).find(Boolean) ?? JSON.stringify(error)
  // Groq puts the reason into `failed_generation`, and OpenRouter puts it into `metadata.raw`.
  const more = [asText(failed_generation), asText(asObject(metadata)['raw'])].filter((text) => text !== '')
  return [said, ...more].join(': ')
}

/** Accepts text, a list of faults (Mistral's `[{loc, msg}]`, directly or under `detail`), or any other object. */
function messageText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const list = Array.isArray(value) ? value : asObject(value)['detail']
  if (Array.isArray(list)) return list.map(faultText).join('; ')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined
}

function faultText(fault: unknown): string {
  const { loc, msg, message } = asObject(fault)
  if (typeof msg !== 'string') return asText(message) || (JSON.stringify(fault) ?? '')
  return Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg
}

/** Returns any page except HTML unchanged. Removes the tags from HTML and reads at most 20,000 characters. */
function pageText(page: string): string {
  if (!/^\s*<(!doctype|html|head|body)\b/i.test(page)) return page
  const text = page.slice(0, 20_000).replace(/<(style|script)\b[^>]*>[^<]*<\/\1>/gi, ' ')
  return text
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

// Failures inside answers. Services report them in many forms, often without an `error` object.
const codes: readonly (readonly [number, readonly string[]])[] = [
  [400, ['invalid_request_error', 'invalid_prompt', 'content_filter', 'context_length_exceeded', 'tool_use_failed']],
  [401, ['authentication_error']],
  [402, ['billing_error']],
  [403, ['permission_error']],
  [404, ['not_found_error']],
  [413, ['request_too_large']],
  [429, ['rate_limit_exceeded', 'rate_limit_error', 'insufficient_quota']],
  [500, ['server_error', 'internal_server_error', 'api_error']],
  [503, ['service_unavailable']],
  [504, ['timeout_error']],
  [529, ['overloaded_error']],
]

/** @param frame the frame with the error. Some services put the code beside the error. */
export function frameError(error: unknown, token: string, frame: Json = {}): ProviderError {
  const { status_code, code, status, type } = asObject(error)
  const known = [status_code, code, status, frame['code'], type].map(statusOf)
  return brokenOff(
    known.find((one) => one !== undefined),
    error,
    token,
  )
}

function statusOf(code: unknown): number | undefined {
  const status = codes.find(([, names]) => names.includes(asText(code)))?.[0] ?? asNumber(code) ?? Number(asText(code))
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}

/** Returns the error that any frame may contain beside an answer. */
export function errorIn(frame: Json): unknown {
  const { error, base_resp } = frame
  if (isFailure(error)) return error
  // MiniMax reports its own status with each answer.
  return isBlank(asObject(base_resp)['status_code']) ? undefined : base_resp
}

/** False for an error without a code and words, and for one that reports success. Services send both with answers. */
export function isFailure(error: unknown): boolean {
  if (!isObject(error)) return !isBlank(error)
  return !isSuccess(error) && !Object.values(error).every(isBlank)
}

/** Some services send code 0 and a word for success with each frame. */
function isSuccess({ code, message }: Json): boolean {
  return isBlank(code) && /^(ok|success)\W*$/i.test(asText(message))
}

const errorKeys = keys('message Message msg detail errors error_msg error_message error_code errorCode errorMessage')

/** Returns the error of a frame that is no part of an answer. Frames of unknown types are not errors. */
export function strayError(frame: Json): Json | undefined {
  const { type, object } = frame
  if (object === 'error') return frame
  if (isSuccess(frame) || frame['code'] === 200) return undefined
  if (typeof type === 'string' && !/error/i.test(type)) return undefined
  const isFailure = type !== undefined || Object.keys(frame).some((key) => errorKeys.has(key))
  return isFailure ? frame : undefined
}

const maxTextCharacters = 2_000

/** Matches the keys of common vendors, stet's own keys, and `Bearer` with the text after it. */
const secretForms = /\b(?:sk|pk|rk|gsk|xai|pplx|key)[-_][\w-]{8,}|\bAIza[\w-]{20,}|\bstet_\w{20,}|\bBearer\s+[^\s"']+/gi

/**
 * Removes the token in plain and base64 form, even if the text contains only the first 12 characters. Does not search
 * for tokens of fewer than 4 characters.
 */
export function scrubbed(text: string, token: string): string {
  // Truncates before the search, so that the search in a very long page costs little.
  let part = text.slice(0, 4 * maxTextCharacters)
  if (token.length >= 4) for (const form of [token, ...base64Forms(token)]) part = withoutSecret(part, form)
  return storableText(part.replace(secretForms, '***').slice(0, maxTextCharacters))
}

// Some services show only the start of a key ("sk-proj-abcdef..."). A start of this length is removed too.
const shortestPrefix = 12

function withoutSecret(text: string, secret: string): string {
  const start = secret.slice(0, shortestPrefix)
  let shown = ''
  let from = 0
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, from)) {
    let length = start.length
    while (length < secret.length && text[at + length] === secret[length]) length += 1
    shown += `${text.slice(from, at)}***`
    from = at + length
  }
  return shown + text.slice(from)
}

/**
 * Returns the base64 forms of the token in both alphabets. Each form contains only characters that depend on the token
 * alone. In `Basic <user>:<token>`, the length of the user selects one of three byte offsets.
 */
function base64Forms(token: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(token)])
    const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    const form = bytes.toString('base64url').slice(first, end)
    return [form, form.replaceAll('-', '+').replaceAll('_', '/')]
  })
}
