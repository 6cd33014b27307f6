import { refuse } from '../../shared/app-error.ts'
import { exceededBound, inputBounds, type JsonBounds } from '../../shared/text/json-bounds.ts'
import { refuseValue, tooDeep } from '../../shared/text-guard.ts'
import { invalidRequest, type RequestIssue } from './invalid-request.ts'

const jsonType = /^application\/json$|^[^/\s]+\/[^/\s]+\+json$/
const refusals: Record<keyof JsonBounds, string> = {
  depth: tooDeep,
  values: `must not hold more than ${inputBounds.values} values`,
  keys: `must not hold more than ${inputBounds.keys} different keys`,
}
// A body this short cannot exceed the bounds of values and keys, and its depth is found after parsing.
const unmeasuredBytes = 32_768
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value of a body; an empty one counts as `{}`, an absent type as JSON.
 * @throws AppError UnsupportedMediaTypeError, BadRequestError.
 */
export function parseJsonBody(bytes: Uint8Array, contentType: string | undefined): unknown {
  if (bytes.length === 0) return {}
  if (!isJson(contentType)) throw refuse('unsupported-content-type')
  const exceeded = bytes.length > unmeasuredBytes ? exceededBound(bytes, inputBounds) : undefined
  if (exceeded) throw refused([], refusals[exceeded])
  const value = parse(bytes)
  const refusal = refuseValue(value)
  if (refusal) throw refused(refusal.path, refusal.reason)
  return value
}

const refused = (path: RequestIssue['path'], message: string) =>
  invalidRequest('invalid-body', [{ path, code: 'custom', message }])

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType.trim() === '') return true
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  return jsonType.test(type) && (charset === undefined || charset === 'utf-8' || charset === 'utf8')
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw refuse('malformed-json')
  }
}
