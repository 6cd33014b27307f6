/** Responses written without Express: prepared bytes, event streams, and JSON of any size. */
import { Readable, Stream } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { charactersIn, evenTexts, jsonPieces } from '../shared/json-pieces.ts'
import type { UnreadBudget } from './rate-limit/unread-budget.ts'

/**
 * Writes itself to the response. ts-rest calls `pipe` on a body that is a `Stream`. A real Readable would be piped
 * without content type, error listener and cleanup.
 */
export class RawResponse extends Stream {
  readonly #write: (res: Response) => void

  constructor(write: (res: Response) => void) {
    super()
    this.#write = write
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T): T {
    // ts-rest always passes the Express response here.
    this.#write(destination as unknown as Response)
    return destination
  }
}

/** Bodies up to this length are sent as a string, because Node then sends headers and body in one write. */
const joinedCharacters = 65_536

/** Replaces Express's `res.json`, which recomputes settings, charset and freshness for every response. */
export function writeJson(this: Response, value: unknown): Response {
  const text = JSON.stringify(value)
  const body = text.length <= joinedCharacters ? text : Buffer.from(text)
  this.setHeader('Content-Type', 'application/json; charset=utf-8')
  this.setHeader('Content-Length', Buffer.byteLength(body))
  return this.end(body)
}

const wholeCharacters = 1_048_576
const pieceCharacters = 65_536

/**
 * Returns a response that sends a large body in pieces. The body counts against the budget until the response closes.
 * Returns a smaller body unchanged and releases its reservation.
 */
export function sizedBody<T>(unread: Pick<UnreadBudget, 'hold'>, res: Response, body: T): T | RawResponse {
  const characters = charactersIn(body)
  const isLarge = characters > wholeCharacters
  unread.hold(res, isLarge ? characters : 0)
  return isLarge ? new RawResponse((response) => writePieces(response, body)) : body
}

/** Sends pieces, because the complete string and its bytes would be two more copies in memory. */
function writePieces(res: Response, body: unknown): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  const texts = Readable.from(evenTexts(jsonPieces(body), pieceCharacters), { objectMode: true, highWaterMark: 1 })
  // Fails only if the client disconnects. No response is possible then.
  pipeline(texts, res).catch(() => undefined)
}
