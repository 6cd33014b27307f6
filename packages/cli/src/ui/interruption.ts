import type { Context } from '../context.ts'
import { CliError, codeOfSignal } from '../exit-code.ts'
import type { EndSignal } from '../io.ts'

/** The first Ctrl-C or SIGTERM aborts `signal`. The second one ends the program. */
export class Interruption {
  by: EndSignal | undefined
  readonly #controller = new AbortController()
  readonly end: () => void

  /** @param message is said at the first one */
  constructor({ io, say }: Pick<Context, 'io' | 'say'>, message?: string) {
    this.end = io.onInterrupt((by) => {
      this.end()
      this.by = by
      if (message !== undefined) say(message)
      this.#controller.abort()
    })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  throwIfInterrupted(message: string): void {
    if (this.by) throw new CliError(codeOfSignal(this.by), message)
  }
}
