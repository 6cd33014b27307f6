/** Converts provider failures and incomplete responses to ProviderError, without secrets. */
import type { IncomingHttpHeaders } from 'node:http'
import { ProviderError, type ProviderErrorKind } from '../../../features/providers/provider-error.ts'
import { asList, asObject, asText, type Json } from '../json.ts'
import { headerText, unreadableAnswer } from '../transport/transport.ts'
import { scrubbed } from './scrub.ts'

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
