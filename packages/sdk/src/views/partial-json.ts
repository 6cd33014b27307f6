import type { StreamEvent } from '../events.ts'

export async function* objectsOf(events: AsyncIterable<StreamEvent>): AsyncGenerator<unknown> {
  let text = ''
  let shown: string | undefined
  for await (const { data } of events) {
    let value: unknown
    if (data.type === 'step-started') text = ''
    else if (data.type === 'text-delta') {
      text += data.textDelta
      value = parsePartialJson(text)
    } else if (data.type === 'provider-completed') value = data.response.object
    const next = value === undefined ? undefined : JSON.stringify(value)
    if (next === undefined || next === shown) continue
    shown = next
    yield value
  }
}

/** Parses an incomplete JSON text. Returns undefined if there is no value yet. */
export function parsePartialJson(text: string): unknown {
  const { closers, isInString, memberStart } = scan(text)
  const trimmed = text.trimEnd()
  const candidates = isInString
    ? // Drop an incomplete escape (\, \u00), then close the string.
      [`${text.replace(/\\(u[\da-fA-F]{0,3})?$/, '')}"`]
    : // Drop a trailing comma, decimal point or exponent.
      [trimmed, trimmed.replace(/(?<![\s,.eE+-])[\s,.eE+-]+$/, '')]
  for (const candidate of [...candidates, text.slice(0, memberStart)]) {
    try {
      return JSON.parse(candidate + closers)
    } catch {
      // The text ends inside a token. The next candidate omits more of the text.
    }
  }
  return undefined
}

interface Cut {
  closers: string
  isInString: boolean
  /** The start of the last member or item in the innermost bracket, including its comma. */
  memberStart: number | undefined
}

function scan(text: string): Cut {
  const starts: number[] = []
  let closers = ''
  let isInString = false
  for (const { 0: token, index } of text.matchAll(/\\.|["{}[\],]/gs)) {
    if (token === '"') isInString = !isInString
    else if (isInString) continue
    else if (token === '{' || token === '[') {
      closers = (token === '{' ? '}' : ']') + closers
      starts.push(index + 1)
    } else if (token === ',') starts.splice(-1, 1, index)
    else {
      closers = closers.slice(1)
      starts.pop()
    }
  }
  return { closers, isInString, memberStart: starts.at(-1) }
}
