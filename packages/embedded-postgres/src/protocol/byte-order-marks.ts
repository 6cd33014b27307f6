/**
 * PGlite 0.5 drops a leading U+FEFF as a byte order mark. A prompt that begins with this character would not match its
 * hash.
 */
import { protocol } from '@electric-sql/pglite'

type Parser = InstanceType<typeof protocol.Parser>
type Parse = Parser['parse']
type Row = InstanceType<typeof protocol.messages.DataRowMessage>

const mark = '\uFEFF'
const markBytes = Buffer.from(mark)
const markNumber = markBytes.readUIntBE(0, markBytes.length)
const headBytes = 5

const unfinished = new WeakMap<Parser, Buffer>()
let isDone = false

/** Patches the prototype of PGlite's private parsers, so that every parser keeps the mark. */
export function keepByteOrderMarks(): void {
  if (isDone) return
  isDone = true
  const { parse } = protocol.Parser.prototype
  protocol.Parser.prototype.parse = function (this: Parser, ...[piece, take]: Parameters<Parse>): void {
    const bytes = joined(unfinished.get(this), piece)
    unfinished.delete(this)
    const mayBegin = bytes.includes(markBytes)
    let place = 0
    parse.call(this, piece, (message) => {
      if (mayBegin && message instanceof protocol.messages.DataRowMessage) restoreMarks(message, bytes, place)
      place += 1 + bytes.readUInt32BE(place + 1)
      take(message)
    })
    // Copies the bytes, because the database reuses the piece's memory.
    if (place < bytes.length) unfinished.set(this, Buffer.from(bytes.subarray(place)))
  }
}

/** A split row arrives as one start and one long remainder, so this function copies the row only once. */
function joined(begin: Buffer | undefined, piece: Parameters<Parse>[0]): Buffer {
  const rest = ArrayBuffer.isView(piece)
    ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    : Buffer.from(piece)
  return begin ? Buffer.concat([begin, rest]) : rest
}

function restoreMarks({ fields }: Row, bytes: Buffer, place: number): void {
  let at = place + headBytes + 2
  for (const [column, text] of fields.entries()) {
    // NULL has size -1.
    const size = Math.max(0, bytes.readInt32BE(at))
    at += 4
    const begins = size >= markBytes.length && bytes.readUIntBE(at, markBytes.length) === markNumber
    if (begins && typeof text === 'string') fields[column] = mark + text
    at += size
  }
}
