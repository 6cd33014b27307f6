/** One unit of fuel is about 20 ns of work and at most about 40 bytes of memory. */

export interface Range {
  start: number
  end: number
}

/** A fault of an evaluation. Without a range, it is placed where the meter was last. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError'
  readonly code: string
  readonly at: Range | undefined

  constructor(code: string, message: string, at?: Range) {
    super(message)
    this.code = code
    this.at = at
  }
}

/** The fuel of one evaluation. */
export const MAX_FUEL = 1_000_000
/** The fuel of one operation, because an operation cannot be interrupted: 4 to 8 ms. */
const MAX_OPERATION_FUEL = 250_000
/** The length of one text, and of all text that one evaluation puts out. */
export const MAX_TEXT_CHARS = 4_194_304
const CHARS_PER_UNIT = 16

/** Thrown if the fuel ends before the evaluation does. A larger amount of fuel may be enough. */
export class OutOfFuelError extends EvaluationError {
  constructor() {
    super('limit-exceeded', 'The evaluation takes too long')
  }
}

/** Work is paid for before it is done, so that no work is larger than the fuel allows. */
export class Meter {
  left: number
  /** The node that the evaluation began last. */
  at: Range | undefined

  constructor(fuel = MAX_FUEL) {
    this.left = fuel
  }

  spend(units: number): void {
    if (units > MAX_OPERATION_FUEL) throw new EvaluationError('limit-exceeded', 'One operation takes too long')
    this.left -= units
    if (this.left < 0) throw new OutOfFuelError()
  }

  /** Pays for reading or making a text. */
  spendText(chars: number): void {
    if (chars > MAX_TEXT_CHARS) throw new EvaluationError('limit-exceeded', 'A text is longer than 4 MB')
    this.spend(Math.floor(chars / CHARS_PER_UNIT))
  }
}
