import { gunzipSync, gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'

/**
 * A body that never changes, plain and compressed. All responses share the two buffers, so that unread responses cost no
 * memory of their own.
 */
export class SharedBody {
  readonly #contentType: string
  readonly #make: () => { plain: Buffer } | { gzip: Buffer }
  #plain: Buffer | undefined
  #gzip: Buffer | undefined

  /** @param make is called when a form is first needed. It returns the form that is cheaper to make. */
  constructor(contentType: string, make: () => { plain: Buffer } | { gzip: Buffer }) {
    this.#contentType = contentType
    this.#make = make
  }

  send(req: Request, res: Response): void {
    const isCompressed = req.acceptsEncodings(['gzip', 'identity']) === 'gzip'
    res.type(this.#contentType).vary('Accept-Encoding')
    if (isCompressed) res.setHeader('Content-Encoding', 'gzip')
    res.send(isCompressed ? this.gzip() : this.plain())
  }

  plain(): Buffer {
    if (!this.#plain) {
      const made = this.#make()
      this.#plain = 'plain' in made ? made.plain : gunzipSync(this.gzip())
    }
    return this.#plain
  }

  gzip(): Buffer {
    if (!this.#gzip) {
      const made = this.#make()
      this.#gzip = 'gzip' in made ? made.gzip : gzipSync(this.plain(), { level: 9 })
    }
    return this.#gzip
  }
}
