import { relative, sep } from 'node:path'
import type { Failure } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { asShown, createStyle } from './terminal-style.ts'

export interface Column<T> {
  head: string
  cell(row: T): string
}

/** Keeps texts of others from adding lines or columns. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\t\r\n]+/g, ' ')
}

/** Formats a table for a terminal. Pipes get tab-separated values without a header. */
export function formatTable<T>(columns: readonly Column<T>[], rows: readonly T[], io: Io): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))))
  if (!io.tty.stdout) return cells.map((line) => `${line.join('\t')}\n`).join('')
  const lines = [columns.map(({ head }) => head), ...cells]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** Formats a failure for standard error: sentences or one line of JSON. */
export function failureText(failure: Failure, isJson: boolean, io: Io, color: boolean | undefined): string {
  const { lines, ...rest } = failure
  if (isJson) return `${JSON.stringify({ error: lines.length > 0 ? { ...rest, lines } : rest })}\n`
  const style = createStyle(io, color)
  const text = [`${style.fail} ${failure.message}`, ...lines.map((line) => `  ${line}`)]
  if (failure.next) text.push(`  hint: ${failure.next}`)
  if (failure.requestId) text.push(style.dim(`  request ${failure.requestId} · ${failure.errorCode} ${failure.status}`))
  return `${asShown(text.join('\n'), io)}\n`
}

export function formatAge(timestamp: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(timestamp)) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`
  return seconds < 86_400 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} d ago`
}

/** @example countOf(1, 'file') // '1 file' */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Returns the first eight digits, which are enough to name the object in a command. */
export function shortUuid(uuid: string): string {
  return uuid.slice(0, 8)
}

/** Returns the path relative to the working folder, with `/` on every system. */
export function shownFile(file: string, cwd: string): string {
  return relative(cwd, file).split(sep).join('/')
}
