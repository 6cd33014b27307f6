import type { LocatedIssue } from '@stet/contract/vocabulary'

export type CompileIssue = LocatedIssue

/** An issue with offsets into the text that was being parsed. */
export interface Fault {
  code: string
  message: string
  start: number
  end?: number
}

export interface Place {
  path: string
  text: string
  start: number
  end?: number
}

export class FaultError extends Error {
  override readonly name = 'FaultError'
  readonly fault: Fault
  /** The front matter that was read before the fault. */
  config: string | undefined

  constructor(fault: Fault) {
    super(fault.message)
    this.fault = fault
  }
}

/** Rendering throws this error. `issue` includes the position. */
export class CompileIssueError extends Error {
  override readonly name = 'CompileIssueError'
  readonly issue: CompileIssue

  constructor(issue: CompileIssue) {
    super(issue.message)
    this.issue = issue
  }
}

/**
 * Thrown if the work exceeds the limits that its caller has set for this place. The limits of the language may allow
 * it.
 */
export class CallerLimitError extends Error {
  override readonly name = 'CallerLimitError'

  constructor(options?: { cause: unknown }) {
    super('The work exceeds the limits of its caller', options)
  }
}

const FRAME_WIDTH_CHARS = 120
/** Limits the length, because the engine's messages quote prompt values of any size. */
const MAX_MESSAGE_CHARS = 1_000

/** Converts `\r\n` and lone `\r` to `\n`. Line numbers do not change. */
export function normaliseLineEnds(content: string): string {
  return content.includes('\r') ? content.replace(/\r\n?/g, '\n') : content
}

/** Line and column start at 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const at = Math.max(0, Math.min(offset, text.length))
  let line = 1
  let lineStart = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', lineStart)) {
    line += 1
    lineStart = end + 1
  }
  return { line, column: at - lineStart + 1 }
}

/** Shows the previous line, the line itself and a caret. Cuts long lines around the caret. */
function codeFrame(text: string, line: number, column: number): string {
  const lines = text.split('\n')
  const width = String(line).length
  const cutAt = Math.max(0, column - 1 - FRAME_WIDTH_CHARS / 2)
  const row = (number: number): string =>
    `  ${String(number).padStart(width)} | ${(lines[number - 1] ?? '').slice(cutAt, cutAt + FRAME_WIDTH_CHARS)}`
  const caret = `  ${' '.repeat(width)} | ${' '.repeat(column - 1 - cutAt)}^`
  return [...(line > 1 ? [row(line - 1)] : []), row(line), caret].join('\n')
}

export function issueAt(place: Place, code: string, message: string): CompileIssue {
  const { line, column } = lineAndColumn(place.text, place.start)
  const end =
    place.end !== undefined && place.end > place.start && place.end <= place.text.length
      ? lineAndColumn(place.text, place.end)
      : undefined
  return {
    code,
    message: message.slice(0, MAX_MESSAGE_CHARS),
    path: place.path,
    line,
    column,
    ...(end ? { endLine: end.line, endColumn: end.column } : {}),
    frame: codeFrame(place.text, line, column),
  }
}
