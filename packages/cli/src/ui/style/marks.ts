import type { Io } from '../../io.ts'
import { styleSequence } from './terminal-text.ts'

/** Colors and marks; plain where the terminal does not support them. */
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

/** The style of one output stream. NO_COLOR wins, then the flags, then FORCE_COLOR, then whether that stream is a terminal. */
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

/** A message for a terminal without UTF-8: our own signs become ASCII; names and foreign texts stay unchanged. */
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

// Without an encoding variable, assumes UTF-8; only an explicit other encoding disables it.
function canShowMarks(io: Pick<Io, 'env'>): boolean {
  const locale = io.env['LC_ALL'] || io.env['LC_CTYPE'] || io.env['LANG'] || ''
  return locale === '' || /utf-?8/i.test(locale)
}
