import { randomBytes } from 'node:crypto'
import type { Io } from '../io.ts'
import { isInGitHubActions, withoutCommands } from './github.ts'

// Marks stet's own styles. The mark is random, so that text from a server, a file or a model cannot imitate a style.
const ownMark = `\x1b<${randomBytes(12).toString('hex')}:`

/**
 * `code` is an ANSI style, such as 32 for green. On output, `styled` replaces the result with the terminal's sequence.
 */
function styleSequence(code: number): string {
  return `${ownMark}${code}>`
}

const lineStart = 'K'

/** Returns to the start of the line and erases it. */
export const eraseLine = `${ownMark}${lineStart}>`

const ownSequence = new RegExp(`${ownMark}(\\d+|${lineStart})>`, 'g')

// Operating system commands set titles, links or the clipboard. The class excludes all start and end characters of a
// command, so matching takes linear time.
const systemCommand = /(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d]*(?:\x07|\x1b\\|\x9c)/g

// Matches all control characters except tab, line feed, and the carriage return of a line ending.
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/g

/** Makes text safe for a terminal: removes operating system commands, and escapes other control characters as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replaceAll(systemCommand, '').replaceAll(control, asEscape)
}

// Uses JSON's escape form, so that JSON on a terminal keeps its meaning.
function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Applies stet's own styles, and makes all other control characters harmless. */
function styled(text: string): string {
  return text
    .split(ownSequence)
    .map((piece, index) => {
      if (index % 2 === 0) return escapeControls(piece)
      return piece === lineStart ? '\r\x1b[K' : `\x1b[${piece}m`
    })
    .join('')
}

/**
 * Wraps the output functions. Names, texts and messages may come from a hostile server, and a pipe often ends on a
 * terminal too, such as a log of CI. Only a pipe gets exact bytes, and only if they are the point.
 */
export function guardOutput(io: Io, isJson: boolean): Io {
  const asJson = (text: string): string => text.replaceAll(control, asEscape)
  const isObeyed = isInGitHubActions(io)
  return {
    ...io,
    out(text, form = isJson ? 'json' : 'text') {
      if (form === 'text') io.out(styled(text))
      else if (!io.tty.stdout) io.out(text)
      else io.out(form === 'json' ? asJson(text) : styled(text))
    },
    err(text, form) {
      const shown = isJson ? asJson(text) : styled(text)
      if (!isObeyed || form === 'command') io.err(shown)
      else io.err(isJson ? shown.replaceAll('##[', '#\\u0023[') : withoutCommands(shown))
    },
  }
}

/** Prepares text for a program that writes to the terminal itself, such as a pager. */
export const textForPager = styled

/** Colors and marks. Both are plain if the terminal does not support them. */
export interface Style {
  green(text: string): string
  red(text: string): string
  yellow(text: string): string
  dim(text: string): string
  bold(text: string): string
  ok: string
  warn: string
  fail: string
  up: string
  down: string
}

/**
 * Uses colors according to NO_COLOR, the flags, FORCE_COLOR and the terminal. The first of these that is set decides.
 */
export function createStyle(io: Io, wanted: boolean | undefined, end: 'stdout' | 'stderr' = 'stderr'): Style {
  const isColored = usesColor(io, wanted, end)
  const paint = (start: number, reset: number) => {
    const [before, after] = [styleSequence(start), styleSequence(reset)]
    return (text: string): string => (isColored ? before + text + after : text)
  }
  const [green, red, yellow, bold, dim] = [paint(32, 39), paint(31, 39), paint(33, 39), paint(1, 22), paint(2, 22)]
  const isPlain = !canShowMarks(io)
  const marks = isPlain
    ? { ok: '[ok]', warn: '[!]', fail: '[x]', up: '^', down: 'v' }
    : { ok: '✔', warn: '!', fail: '✖', up: '↑', down: '↓' }
  return {
    green,
    red,
    yellow,
    dim,
    bold,
    ok: green(marks.ok),
    warn: yellow(marks.warn),
    fail: red(marks.fail),
    up: marks.up,
    down: marks.down,
  }
}

const plainForms: Readonly<Record<string, string>> = {
  '·': '-',
  '…': '...',
  '◌': 'o',
  '−': '-',
  '×': 'x',
  '●': '*',
  '≈': '~',
}

/** On a terminal without UTF-8, replaces stet's own symbols with ASCII. Names and other texts stay unchanged. */
export function asShown(text: string, io: Pick<Io, 'env'>): string {
  return canShowMarks(io) ? text : text.replaceAll(/[·…◌−×●≈]/g, (sign) => plainForms[sign] ?? sign)
}

function usesColor(io: Io, wanted: boolean | undefined, end: 'stdout' | 'stderr'): boolean {
  if (io.env['NO_COLOR']) return false
  if (wanted !== undefined) return wanted
  const forced = io.env['FORCE_COLOR']
  if (forced !== undefined && forced !== '') return forced !== '0'
  return io.tty[end] && io.env['TERM'] !== 'dumb'
}

// Assumes UTF-8 if no locale variable is set.
function canShowMarks(io: Pick<Io, 'env'>): boolean {
  const locale = io.env['LC_ALL'] || io.env['LC_CTYPE'] || io.env['LANG'] || ''
  return locale === '' || /utf-?8/i.test(locale)
}
