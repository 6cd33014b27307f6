import type { Context } from '../../context.ts'
import { CliError, codeOfSignal } from '../../exit-code.ts'
import type { EndSignal } from '../../io.ts'

/** The first Ctrl-C or SIGTERM aborts `signal`. The second one ends the program. */
export class Interruption {
  by: EndSignal | undefined
  readonly #controller = new AbortController()
  readonly end: () => void

  constructor({ io, say }: Pick<Context, 'io' | 'say'>) {
    this.end = io.onInterrupt((by) => {
      this.end()
      this.by = by
      say('Ending the load. Press Ctrl-C again to exit at once')
      this.#controller.abort()
    })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  throwIfInterrupted(): void {
    if (this.by) throw new CliError(codeOfSignal(this.by), 'Stopped before the measurement')
  }
}
