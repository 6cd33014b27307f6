import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { refuse } from '../../shared/app-error.ts'
import { hasMoreKeys, inputBounds, type JsonBounds, JsonMeter } from '../../shared/json-bounds.ts'
import { refuseValue, tooDeep } from '../../shared/text-guards.ts'
import { invalidRequest, type RequestIssue } from './check-input.ts'
import { readBody } from './read-body.ts'

const jsonType = /^application\/json$|^[^/\s]+\/[^/\s]+\+json$/
const refusals: Record<keyof JsonBounds, string> = {
  depth: tooDeep,
  values: `must not hold more than ${inputBounds.values} values`,
  keys: `must not hold more than ${inputBounds.keys} different keys`,
}
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value of a body; an empty one counts as `{}`, an absent type as JSON. Depth and number of values are counted while the body
 * arrives, because the work after parsing grows with them.
 * @throws AppError as `readBody`, UnsupportedMediaTypeError, BadRequestError.
 */
export async function readJsonBody(req: IncomingMessage, limitBytes: number): Promise<unknown> {
  const { 'content-type': type } = req.headers
  if (type !== 'application/json' && !isJson(type)) {
    if ((await readBody(req, limitBytes)).length === 0) return {}
    throw refuse('unsupported-content-type')
  }
  let meter: JsonMeter | undefined
  const bytes = await readBody(req, limitBytes, (part) => {
    meter ??= new JsonMeter(inputBounds)
    const exceeded = meter.add(part)
    if (exceeded) throw refused([], refusals[exceeded])
  })
  if (bytes.length === 0) return {}
  if (meter && meter.members > inputBounds.keys && hasMoreKeys(bytes, inputBounds.keys))
    throw refused([], refusals.keys)
  // Each step of a long body has a turn of its own, so that other connections wait for one step at most.
  if (meter) await nextTurn()
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw refuse('malformed-json')
  }
  if (meter) await nextTurn()
  const refusal = refuseValue(value)
  if (refusal) throw refused(refusal.path, refusal.reason)
  if (meter) await nextTurn()
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
