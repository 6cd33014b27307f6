/** Answers whose JSON would be megabytes long are written piece by piece: whole, text and bytes of it would stand in memory. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { charactersIn, isLarge, jsonPieces } from '../../shared/text/json-pieces.ts'
import { evenTexts } from '../../shared/text/text-parts.ts'
import { noteHeldBytes } from '../limits/unread-limit.ts'
import { ResponseTap } from '../mount.ts'

const wholeCharacters = 1_048_576
const writeCharacters = 65_536

/** The body as it is, or what writes it. */
export function largeAnswer<T>(body: T): T | ResponseTap {
  return isLarge(body, wholeCharacters) ? new ResponseTap((res) => write(res, body)) : body
}

function write(res: Response, body: unknown): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  noteHeldBytes(res, charactersIn(body))
  const texts = Readable.from(evenTexts(jsonPieces(body), writeCharacters), { objectMode: true, highWaterMark: 1 })
  // Who leaves before the end is the only one to be told of it.
  pipeline(texts, res).catch(() => undefined)
}
