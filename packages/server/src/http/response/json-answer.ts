/** How every JSON answer is written. Express's own way asks for settings, charset and freshness that are the same for all. */
import type { Response } from 'express'

/** Up to this length an answer goes as a text: Node joins it with the head and sends both in one write. */
const joinedCharacters = 65_536

export function writeJson(this: Response, value: unknown): Response {
  const text = JSON.stringify(value)
  const body = text.length <= joinedCharacters ? text : Buffer.from(text)
  this.setHeader('Content-Type', 'application/json; charset=utf-8')
  this.setHeader('Content-Length', Buffer.byteLength(body))
  return this.end(body)
}
