import { MAX_TEXT_CHARS, type Meter } from '../values/fuel.ts'
import { toText, type Value } from '../values/values.ts'
import { textPlaces } from './search-text.ts'

const SIGN = /(\$[$&`'])/

/** The size of a replacement is paid for before it is made. */
export function replaceText(text: string, [wanted, given]: readonly Value[], meter: Meter, all: boolean): string {
  const pattern = toText(wanted, meter)
  const template = toText(given, meter)
  meter.spendText(template.length * 4)
  const parts = template.split(SIGN).filter((part) => part !== '')
  const pieces: string[] = []
  let length = text.length
  let done = 0
  for (const at of textPlaces(text, pattern, meter)) {
    const size = parts.reduce((sum, part) => sum + sizeOf(part, text, pattern, at), 0)
    length += size - pattern.length
    meter.spend(4 + parts.length)
    meter.spendText(at - done + size)
    if (length > MAX_TEXT_CHARS) meter.spendText(length)
    pieces.push(text.slice(done, at))
    for (const part of parts) pieces.push(expanded(part, text, pattern, at))
    done = at + pattern.length
    if (!all) break
  }
  if (pieces.length === 0) return text
  meter.spendText(text.length - done)
  pieces.push(text.slice(done))
  return pieces.join('')
}

function sizeOf(part: string, text: string, pattern: string, at: number): number {
  switch (part) {
    case '$$':
      return 1
    case '$&':
      return pattern.length
    case '$`':
      return at
    case "$'":
      return text.length - at - pattern.length
    default:
      return part.length
  }
}

function expanded(part: string, text: string, pattern: string, at: number): string {
  switch (part) {
    case '$$':
      return '$'
    case '$&':
      return pattern
    case '$`':
      return text.slice(0, at)
    case "$'":
      return text.slice(at + pattern.length)
    default:
      return part
  }
}
