/** Responses written without Express: prepared bytes, event streams, and JSON of any size. */
import type { ServerResponse } from 'node:http'
import { Readable, Stream } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'
import { refuse } from '../shared/app-error.ts'
import { charactersIn, evenTexts, jsonPieces } from '../shared/json-limits.ts'
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

/** Replaces Express's `res.json`, which recomputes settings, charset and freshness for every response. */
export function writeJson(this: Response, value: unknown): Response {
  this.setHeader('Content-Type', 'application/json; charset=utf-8')
  writeBody(this, JSON.stringify(value))
  return this
}

/** Writes a long body in parts, so that `UnreadBudget` sees that a slow client reads on. */
export function writeBody(res: ServerResponse, body: string | Buffer): void {
  res.setHeader('Content-Length', Buffer.byteLength(body))
  // Node sends headers and a string in one write.
  if (body.length <= pieceBytes) res.end(body)
  else writePieces(res, partsOf(typeof body === 'string' ? Buffer.from(body) : body))
}

function* partsOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes)
}

const wholeBytes = 1_048_576
const pieceBytes = 65_536

/**
 * Returns a response that sends a large body in pieces. The body counts against the budget until the response closes.
 * Returns a smaller body unchanged and releases its reservation.
 */
export function sizedBody<T>(unread: Pick<UnreadBudget, 'hold'>, res: Response, body: T): T | RawResponse {
  const characters = charactersIn(body)
  const isLarge = characters > wholeBytes
  unread.hold(res, isLarge ? characters : 0)
  return isLarge ? new RawResponse((to) => writeJsonPieces(to, evenTexts(jsonPieces(body), pieceBytes))) : body
}

export interface ItemList<Item, Body> {
  /** Makes the items one by one. Starts from the beginning each time. */
  items(): AsyncIterable<Item>
  /** Builds the body around the items, which are its last value. */
  bodyOf(items: Item[]): Body
  /** Limits the JSON of all items. Set it if making an item is expensive. */
  mostBytes?: number
  /** Waits for room before it makes the first item, because a single item may need all of it. */
  hasLargeItems?: boolean
}

/**
 * Returns a small list as a value. Makes the items of a larger list again while they are sent, so that a list of any
 * size takes the memory of a few items. Such a list waits for room in the budget.
 * @throws AppError PayloadTooLargeError above `mostBytes`, and as `UnreadBudget.reserve`.
 */
export async function itemList<Item, Body>(
  unread: Pick<UnreadBudget, 'reserve' | 'hold'>,
  { res, apiKeyId }: { res: Response; apiKeyId: number },
  list: ItemList<Item, Body>,
): Promise<Body | RawResponse> {
  const { items, bodyOf, mostBytes, hasLargeItems = false } = list
  if (hasLargeItems) await unread.reserve(res, apiKeyId)
  const kept: Item[] = []
  let bytes = 0
  for await (const item of items()) {
    bytes += bytesOf(item)
    if (mostBytes !== undefined && bytes > mostBytes) throw refuse('list-too-large', { limit: mostBytes })
    if (bytes <= wholeBytes) kept.push(item)
    else kept.length = 0
    if (bytes > wholeBytes && mostBytes === undefined) break
  }
  if (bytes <= wholeBytes) {
    if (hasLargeItems) unread.hold(res, 0)
    return bodyOf(kept)
  }
  if (!hasLargeItems) await unread.reserve(res, apiKeyId)
  const [start = '', end = ''] = JSON.stringify(bodyOf([])).split('[]')
  return new RawResponse((to) => writeJsonPieces(to, itemTexts(start, items(), end)))
}

function bytesOf(item: unknown): number {
  let bytes = 0
  for (const piece of jsonPieces(item)) bytes += Buffer.byteLength(piece)
  return bytes
}

async function* itemTexts(start: string, items: AsyncIterable<unknown>, end: string): AsyncGenerator<string> {
  let waiting = `${start}[`
  let isFirst = true
  for await (const item of items) {
    if (!isFirst) waiting += ','
    isFirst = false
    for (const piece of jsonPieces(item)) {
      waiting += piece
      if (waiting.length < pieceBytes) continue
      yield waiting
      waiting = ''
    }
  }
  yield `${waiting}]${end}`
}

/** Sends pieces, because the complete string and its bytes would be two more copies in memory. */
function writeJsonPieces(res: Response, texts: Iterable<string> | AsyncIterable<string>): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  writePieces(res, texts)
}

function writePieces(res: ServerResponse, pieces: Iterable<string | Buffer> | AsyncIterable<string>): void {
  const readable = Readable.from(pieces, { objectMode: true, highWaterMark: 1 })
  // Fails if the client disconnects, or if an item cannot be made. The pipeline then closes the connection, so that the
  // client does not take a part of the body for all of it.
  pipeline(readable, res).catch(() => undefined)
}

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
