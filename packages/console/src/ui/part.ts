import { dropHeldKeys } from './held-keys.ts'
import { say } from './toast.tsx'
import { Watched } from './watched.ts'

/** A part of the page that the first screen does not need. It is loaded when the page is idle, or when it is used. */
export class Part<Module> extends Watched<Module | null> {
  readonly #load: () => Promise<Module>

  constructor(load: () => Promise<Module>) {
    super(null)
    this.#load = load
    whenIdle(() => this.prepare())
  }

  /** Loads the part, if it is not there yet. A failure is reported when the part is used. */
  prepare(): void {
    void this.#ready().catch(() => undefined)
  }

  /** Calls `then` when the part is loaded, which may be at once. */
  use(then: () => void): void {
    if (this.get()) then()
    else
      void this.#ready().then(then, () => {
        dropHeldKeys()
        say('This part of the page could not be loaded')
      })
  }

  async #ready(): Promise<void> {
    const module = this.get() ?? (await this.#load())
    if (!this.get()) this.set(module)
  }
}

/** The first screen has the connection for itself. Safari has no `requestIdleCallback`. */
function whenIdle(work: () => void): void {
  const wait = () =>
    'requestIdleCallback' in window ? requestIdleCallback(work, { timeout: 2000 }) : setTimeout(work, 500)
  if (document.readyState === 'complete') wait()
  else addEventListener('load', wait, { once: true })
}
