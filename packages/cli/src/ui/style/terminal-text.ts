import { randomBytes } from 'node:crypto'
import type { Io } from '../../io.ts'

// Marks the sequences of our own styles. It is random, so that text from a server, a file or a model cannot contain it.
const ownMark = `\x1b<${randomBytes(12).toString('hex')}:`

/** A style sequence of our own, such as 32 for green. It becomes real where the text is written. */
export function styleSequence(code: number): string {
  return `${ownMark}${code}>`
}

const ownSequence = new RegExp(`${ownMark}(\\d+)>`, 'g')

// An operating system command: window titles, links, the clipboard. Each class leaves out what starts the next one: linear time.
const systemCommand = /(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d]*(?:\x07|\x1b\\|\x9c)/g

// Every control character but the tab, the line feed, and the carriage return of a line end.
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/g

/** Text as a terminal may show it: operating system commands removed, other control characters as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replaceAll(systemCommand, '').replaceAll(control, asEscape)
}

// The form that JSON uses too: a document that a terminal shows keeps its meaning.
function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Escapes text for terminals. Pipes get it unchanged. */
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

/** The one way from the program to a terminal: everything that is written passes here. */
export function guardTerminal(io: Io, isJson: boolean): Io {
  const [forOut, forErr] = [textFor(io.tty.stdout, isJson), textFor(io.tty.stderr, isJson)]
  return { ...io, out: (text) => io.out(forOut(text)), err: (text) => io.err(forErr(text)) }
}

/** Text for a program that writes to the terminal by itself, such as a pager. */
export const textForPager = textFor(true, false)
