/** Reads an answer that was asked for as JSON; a fence around it is removed, anything else is an error that keeps the text. */
import { RunError } from '../../../shared/app-error.ts'

const fenced = /^\s*```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/
const shownCharacters = 2_000

/** @throws RunError `invalid_response_format_error` */
export function readStructuredAnswer(text: string): unknown {
  const json = fenced.exec(text)?.[1] ?? text
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new RunError('invalid_response_format_error', 'The answer was asked for as JSON, but it does not parse', {
      details: { text: text.slice(0, shownCharacters) },
      cause,
    })
  }
}
