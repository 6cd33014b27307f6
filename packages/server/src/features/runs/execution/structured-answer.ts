/** Reads an answer that was asked for as JSON; a fence around it is removed, anything else is an error that keeps the text. */
import { RunError } from '../../../shared/app-error.ts'
import { parseStorable, storableText } from '../../../shared/storable-json.ts'

const fence = '```'
const opening = /^\s*```[\w-]*[ \t]*\r?\n/
const shownCharacters = 2_000

// By hand: one expression for both fences tries every place of a long run of blanks as the start of the last one.
function withoutFence(text: string): string {
  const opened = opening.exec(text)
  const rest = text.trimEnd()
  if (!opened || !rest.endsWith(fence) || rest.length < opened[0].length + fence.length) return text
  return rest.slice(opened[0].length, -fence.length)
}

/** @throws RunError `invalid_response_format_error` */
export function readStructuredAnswer(text: string): unknown {
  try {
    return parseStorable(withoutFence(text))
  } catch (cause) {
    throw new RunError('invalid_response_format_error', 'The answer was asked for as JSON, but it does not parse', {
      details: { text: storableText(text.slice(0, shownCharacters)) },
      cause,
    })
  }
}
