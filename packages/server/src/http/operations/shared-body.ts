import { gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'
import { refuse } from '../../shared/app-error.ts'
import { writeBody } from '../raw-response.ts'

/**
 * A body that never changes. All responses share its two buffers, so that unread responses cost no memory of their own.
 */
export class SharedBody {
  readonly #contentType: string
  readonly #make: () => { plain: Buffer } | { gzip: Buffer }
  #made: { plain?: Buffer; gzip: Buffer } | undefined

  /** @param make is called once. A body that is made compressed has no plain form. */
  constructor(contentType: string, make: () => { plain: Buffer } | { gzip: Buffer }) {
    this.#contentType = contentType
    this.#make = make
  }

  /** @throws AppError BadRequestError with status 406 if the client accepts no form of the body. */
  send(req: Request, res: Response): void {
    const { plain, gzip } = this.#forms()
    const isCompressed = plain ? req.acceptsEncodings(['gzip', 'identity']) === 'gzip' : acceptsGzip(req)
    if (!isCompressed && !plain) throw refuse('compressed-only')
    res.type(this.#contentType).vary('Accept-Encoding')
    if (isCompressed) res.setHeader('Content-Encoding', 'gzip')
    writeBody(res, plain && !isCompressed ? plain : gzip)
  }

  gzip(): Buffer {
    return this.#forms().gzip
  }

  #forms(): { plain?: Buffer; gzip: Buffer } {
    if (!this.#made) {
      const made = this.#make()
      this.#made = 'gzip' in made ? made : { ...made, gzip: gzipSync(made.plain, { level: 9 }) }
    }
    return this.#made
  }
}

/** Without the header, a client accepts every encoding (RFC 9110, 12.5.3). */
function acceptsGzip(req: Request): boolean {
  return req.headers['accept-encoding'] === undefined || req.acceptsEncodings('gzip') === 'gzip'
}
