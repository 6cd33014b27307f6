import { FaultError } from '../compile-error.ts'

const BLANKS = /\s*/y

/** Reads a text from the start to the end in linear time. Line ends must be normalized. */
export class Cursor {
  readonly text: string
  index = 0

  constructor(text: string) {
    this.text = text
  }

  /** @throws FaultError */
  fail(code: string, message: string, start = this.index): never {
    throw new FaultError({ code, message, start: Math.max(0, Math.min(start, this.text.length)) })
  }

  isAtEnd(): boolean {
    return this.index >= this.text.length
  }

  at(expected: string): boolean {
    return this.text.startsWith(expected, this.index)
  }

  /** @param pattern sticky */
  atPattern(pattern: RegExp): boolean {
    pattern.lastIndex = this.index
    return pattern.test(this.text)
  }

  eat(expected: string): boolean {
    if (!this.at(expected)) return false
    this.index += expected.length
    return true
  }

  need(expected: string): void {
    if (this.eat(expected)) return
    const message = `Expected '${expected}' but did not find it.`
    if (this.isAtEnd()) this.fail('unexpected-eof', `Unexpected EOF. ${message}`)
    this.fail('unexpected-token', message)
  }

  skipBlanks(): boolean {
    BLANKS.lastIndex = this.index
    BLANKS.test(this.text)
    const isMoved = BLANKS.lastIndex > this.index
    this.index = BLANKS.lastIndex
    return isMoved
  }

  needBlank(): void {
    if (!this.skipBlanks()) this.fail('missing-whitespace', 'Expected whitespace')
  }

  /** Returns the text up to the next match of `pattern`, which must be global, or up to the end. */
  readUntil(pattern: RegExp): string {
    if (this.isAtEnd()) this.fail('unexpected-eof', 'Unexpected end of input')
    pattern.lastIndex = this.index
    const start = this.index
    this.index = pattern.exec(this.text)?.index ?? this.text.length
    return this.text.slice(start, this.index)
  }
}
