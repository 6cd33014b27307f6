import { randomBytes } from 'node:crypto'
import type { Io } from '../io.ts'

// Marks stet's own styles. The mark is random, so that text from a server, a file or a model cannot imitate a style.
const ownMark = `\x1b<${randomBytes(12).toString('hex')}:`

/**
 * `code` is an ANSI style, such as 32 for green. On output, `textFor` replaces the result with the terminal's sequence.
 */
function styleSequence(code: number): string {
  return `${ownMark}${code}>`
}

const ownSequence = new RegExp(`${ownMark}(\\d+)>`, 'g')

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

/**
 * Returns a function that applies stet's own styles. For a terminal, the function also makes all other control
 * characters harmless.
 */
function textFor(isTerminal: boolean, isJson: boolean): (text: string) => string {
  return (text) => {
    const pieces = text.split(ownSequence)
    return pieces
      .map((piece, index) => {
        if (index % 2 === 1) return `\x1b[${piece}m`
        if (!isTerminal) return piece
        return isJson ? piece.replaceAll(control, asEscape) : escapeControls(piece)
      })
      .join('')
  }
}

/** Wraps the output functions, so that all text for a terminal is escaped. */
export function guardTerminal(io: Io, isJson: boolean): Io {
  const [forOut, forErr] = [textFor(io.tty.stdout, isJson), textFor(io.tty.stderr, isJson)]
  return { ...io, out: (text) => io.out(forOut(text)), err: (text) => io.err(forErr(text)) }
}

/** Prepares text for a program that writes to the terminal itself, such as a pager. */
export const textForPager = textFor(true, false)

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

const plainForms: Readonly<Record<string, string>> = { '·': '-', '…': '...', '◌': 'o', '−': '-', '×': 'x', '●': '*' }

/** On a terminal without UTF-8, replaces stet's own symbols with ASCII. Names and other texts stay unchanged. */
export function asShown(text: string, io: Pick<Io, 'env'>): string {
  return canShowMarks(io) ? text : text.replaceAll(/[·…◌−×●]/g, (sign) => plainForms[sign] ?? sign)
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
