/** Sends large JSON in pieces, because the whole text and its bytes would be two more copies in memory. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { charactersIn, jsonPieces } from '../../shared/text/json-pieces.ts'
import { evenTexts } from '../../shared/text/text-parts.ts'
import type { UnreadBudget } from '../limits/unread-budget.ts'
import { ResponseTap } from '../mount.ts'

const wholeCharacters = 1_048_576
const writeCharacters = 65_536

/** The body itself, or a response that sends it in pieces and counts against the budget until it has been read. */
export function sizedBody<T>(unread: Pick<UnreadBudget, 'hold'>, res: Response, body: T): T | ResponseTap {
  const characters = charactersIn(body)
  const isLarge = characters > wholeCharacters
  unread.hold(res, isLarge ? characters : 0)
  return isLarge ? new ResponseTap((response) => write(response, body)) : body
}

function write(res: Response, body: unknown): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  const texts = Readable.from(evenTexts(jsonPieces(body), writeCharacters), { objectMode: true, highWaterMark: 1 })
  // Fails only when the client disconnects, and then there is no one to answer.
  pipeline(texts, res).catch(() => undefined)
}
