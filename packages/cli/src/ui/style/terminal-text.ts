import { randomBytes } from 'node:crypto'
import type { Io } from '../../io.ts'

// Marks our own style sequences. It is random, so that text from a server, a file or a model cannot contain it.
const ownMark = `\x1b<${randomBytes(12).toString('hex')}:`

/** A style sequence, such as 32 for green. Writing replaces the mark by the escape character. */
export function styleSequence(code: number): string {
  return `${ownMark}${code}>`
}

const ownSequence = new RegExp(`${ownMark}(\\d+)>`, 'g')

// Operating system commands: window titles, links, the clipboard. Each class excludes the start of the next one, which keeps it linear.
const systemCommand = /(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d]*(?:\x07|\x1b\\|\x9c)/g

// All control characters except tab, line feed, and the carriage return of a line ending.
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/g

/** Text that is safe for a terminal: removes operating system commands and escapes other control characters as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replaceAll(systemCommand, '').replaceAll(control, asEscape)
}

// JSON's escape form, so that JSON shown on a terminal keeps its meaning.
function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Escapes text for terminals; pipes get it unchanged. */
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

/** The only way to write to a terminal. */
export function guardTerminal(io: Io, isJson: boolean): Io {
  const [forOut, forErr] = [textFor(io.tty.stdout, isJson), textFor(io.tty.stderr, isJson)]
  return { ...io, out: (text) => io.out(forOut(text)), err: (text) => io.err(forErr(text)) }
}

/** Text for a program that writes to the terminal itself, such as a pager. */
export const textForPager = textFor(true, false)
