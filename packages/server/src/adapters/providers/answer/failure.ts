/** Converts provider failures and incomplete responses to ProviderError, without secrets. */
import type { IncomingHttpHeaders } from 'node:http'
import { ProviderError, type ProviderErrorKind } from '../../../features/providers/provider-error.ts'
import { asList, asObject, asText, type Json } from '../json.ts'
import { headerText } from '../transport/transport.ts'
import { scrubbed } from './scrub.ts'

/** @param token the provider key's secret, which some services repeat in error messages. */
export function statusFailure(
  { statusCode: status, headers }: { statusCode: number; headers: IncomingHttpHeaders },
  body: string,
  token: string,
  now: Date,
): ProviderError {
  return new ProviderError(kindOf(status), `The provider answered with status ${status}`, {
    status,
    providerMessage: scrubbed(failureText(body), token),
    retryAfterMs: retryAfterOf(headers, now) ?? retryDelayIn(body),
  })
}

/** Converts an error inside a response. @param status the equivalent status, if known. */
export function brokenOff(status: number | undefined, error: unknown, token: string): ProviderError {
  const kind = status === undefined ? 'unavailable' : kindOf(status)
  const providerMessage = scrubbed(errorText(error) ?? '', token)
  return new ProviderError(kind, 'The provider ended its response with an error', { status, providerMessage })
}

export function brokenInTheMiddle(): ProviderError {
  return new ProviderError('malformed', "The provider's response was cut off")
}

/** Reports content that stet's messages cannot represent. Such content is never dropped silently. */
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

/** Extracts an error body's message. Returns unknown formats unchanged, and a proxy's HTML without its tags. */
function failureText(body: string): string {
  try {
    const failure = failureObject(body)
    return errorText(failure['error'] ?? failure) ?? body
  } catch {
    return /^\s*<(!doctype|html|head|body)\b/i.test(body) ? pageText(body) : body
  }
}

/** Reads `Retry-After` in seconds or as a date, or the more precise `retry-after-ms` of some providers. */
function retryAfterOf(headers: IncomingHttpHeaders, now: Date): number | undefined {
  const fine = Number.parseFloat(headerText(headers, 'retry-after-ms') ?? '')
  if (Number.isFinite(fine)) return Math.max(0, fine)
  const text = headerText(headers, 'retry-after')
  if (text === undefined) return undefined
  const seconds = Number(text)
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - now.getTime()
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined
}

/** Reads the wait in milliseconds from the body, because Google sends no header for it. */
function retryDelayIn(body: string): number | undefined {
  try {
    const { details } = asObject(failureObject(body)['error'])
    const delays = asList(details).map((detail) => asText(asObject(detail)['retryDelay']))
    const seconds = Number.parseFloat(delays.find((delay) => delay !== '') ?? '')
    return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : undefined
  } catch {
    return undefined
  }
}

/** Google wraps the object in a list. @throws SyntaxError */
function failureObject(body: string): Json {
  const parsed: unknown = JSON.parse(body)
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  return typeof first === 'string' ? { error: first } : asObject(first)
}

function errorText(error: unknown): string | undefined {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return undefined
  const { message, detail, failed_generation, metadata } = asObject(error)
  const said = messageText(message) ?? messageText(detail) ?? JSON.stringify(error)
  // The reason is in the model's output (Groq), or in the upstream response of a gateway (OpenRouter).
  const more = [asText(failed_generation), asText(asObject(metadata)['raw'])].filter((text) => text !== '')
  return [said, ...more].join(': ')
}

/** Accepts text, or Mistral's list of faults `[{loc, msg}]` under `detail`. */
function messageText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const list = Array.isArray(value) ? value : asObject(value)['detail']
  if (Array.isArray(list)) return list.map(faultText).join('; ')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined
}

function faultText(fault: unknown): string {
  const { loc, msg } = asObject(fault)
  if (typeof msg !== 'string') return JSON.stringify(fault) ?? ''
  return Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg
}

function pageText(page: string): string {
  const text = page.slice(0, 20_000).replace(/<(style|script)\b[^>]*>[^<]*<\/\1>/gi, ' ')
  return text
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
