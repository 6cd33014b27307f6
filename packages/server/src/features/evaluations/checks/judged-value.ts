import { exceededBound, inputBounds } from '../../../shared/json-limits.ts'
import type { JudgedValue, ScoredAnswer } from './score.ts'

/** Returns why there is nothing to judge, or the answer, or with `field` the part of its object. */
export function judgedValue(
  { field = '' }: { field?: string },
  { text, object }: Pick<ScoredAnswer, 'text' | 'object'>,
): JudgedValue | { missing: string } {
  const json = object === undefined ? parsed(text) : object
  if (field === '') return json === undefined ? { text } : { text, json }
  if (typeof json !== 'object' || json === null) return { missing: 'The answer is not a JSON object' }
  const found = partAt(json, field)
  if (found === undefined) return { missing: `The answer has no ${field}` }
  return { text: typeof found === 'string' ? found : JSON.stringify(found), json: found }
}

/** Undefined for a text that is not JSON, or that is larger than the JSON of a request may be. */
export function parsed(text: string): unknown {
  if (/^\s*[[{]/.test(text) && exceededBound(Buffer.from(text), inputBounds)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function partAt(root: unknown, pointer: string): unknown {
  let part = root
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined
    if (Array.isArray(part) && !/^(0|[1-9]\d*)$/.test(key)) return undefined
    part = (part as Record<string, unknown>)[key]
  }
  return part
}
