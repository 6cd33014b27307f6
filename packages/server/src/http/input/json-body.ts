import { AppError, invalid } from '../../shared/app-error.ts'
import { maxJsonDepth, refuseValue, tooDeep } from '../../shared/text-guard.ts'
import { invalidRequest, type RequestIssue } from './invalid-request.ts'
import { isNestedDeeper } from './json-depth.ts'

const jsonType = /^application\/json$|^[^/\s]+\/[^/\s]+\+json$/
// Parsing this takes 30 MB at most, however deep it is; looking first costs as much time as parsing.
const harmlessBytes = 262_144
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value of a body; an empty one counts as `{}`, an absent type as JSON.
 * @throws AppError UnsupportedMediaTypeError, BadRequestError.
 */
export function parseJsonBody(bytes: Uint8Array, contentType: string | undefined): unknown {
  if (bytes.length === 0) return {}
  if (!isJson(contentType)) {
    throw new AppError('UnsupportedMediaTypeError', 'Content-Type must be application/json')
  }
  if (bytes.length > harmlessBytes && isNestedDeeper(bytes, maxJsonDepth)) throw refused([], tooDeep)
  const value = parse(bytes)
  const refusal = refuseValue(value)
  if (refusal) throw refused(refusal.path, refusal.reason)
  return value
}

const refused = (path: RequestIssue['path'], message: string) => invalidRequest([{ path, code: 'custom', message }])

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
    throw invalid('Malformed JSON in request body')
  }
}
