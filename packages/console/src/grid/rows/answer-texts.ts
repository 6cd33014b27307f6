/** Expected answers as people read and type them. Pure. */

const longest = 240

/** A text as it is, other values as JSON. Empty for nothing. */
export function answerTextOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** An expected answer as it is typed: an object or a list is JSON, other text is itself, no text is nothing. */
export function expectedIn(text: string): unknown {
  if (text.trim() === '') return null
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A value in one line, as long as a cell needs. Empty for nothing. */
export function oneLine(value: unknown): string {
  return answerTextOf(value).slice(0, longest).replace(/\s+/g, ' ')
}

/** "ticket: Where is it? · urgency: 3" */
export function inputsText(parameters: Record<string, unknown>): string {
  const parts = Object.entries(parameters).map(([name, value]) => `${name}: ${oneLine(value)}`)
  return parts.join(' · ').slice(0, longest)
}
