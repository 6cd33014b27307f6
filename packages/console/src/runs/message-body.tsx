import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Button, join } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Chip } from '../ui/mark.tsx'
import { bytesOf, mediaTypeOf, sizeText } from './inputs/input-value.ts'
import css from './message-body.module.css'

/** Bodies are cut after this many characters. */
const cutAt = 4096
/** The answer that was just given is the reason to look, so it is cut much later. */
export const answerCutAt = 65_536
/** A paragraph of this size is laid out fast. Longer texts are shown in several. */
const blockSize = 16_384
const longDataUrl = /data:[\w.+-]+\/[\w.+-]+(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/=]{128,}/g

interface MessageBodyProps {
  /** What a model or a tool wrote. It is shown as text, whatever it contains. */
  text: string
  /** Characters that are shown before "Show all". */
  limit?: number
  className?: string | undefined
  /** Shows a part of the text, if that is more than its characters. */
  render?: (text: string) => ReactNode
}

/** A text of a model, a tool or a user: never markup, cut if it is long, with data URLs as chips. */
export function MessageBody({ text, limit = cutAt, className, render }: MessageBodyProps) {
  const [isWhole, setWhole] = useState(false)
  const { pieces, isCut } = useMemo(
    () => piecesOf(text, isWhole ? Number.POSITIVE_INFINITY : limit),
    [text, isWhole, limit],
  )
  return (
    <div className={join(css['body'], className)} dir="auto">
      {pieces.map((piece) =>
        piece.dataUrl === undefined ? (
          <div key={piece.at} className={css['block']} dir="auto">
            {render ? render(piece.text) : piece.text}
          </div>
        ) : (
          <DataUrl key={piece.at} url={piece.dataUrl} />
        ),
      )}
      {isCut && (
        <div className={css['more']}>
          <Button onClick={() => setWhole(true)}>Show all ({sizeText(text.length)})</Button>
          <CopyButton text={text} />
        </div>
      )}
    </div>
  )
}

/** The stand-in for a file inside a text, which may have millions of characters. */
export function DataUrl({ url }: { url: string }) {
  return (
    <span className={css['dataUrl']}>
      <Chip>
        {mediaTypeOf(url)} · {sizeText(bytesOf(url))}
      </Chip>
      <CopyButton text={url} aria-label="Copy the data URL" />
    </span>
  )
}

/**
 * A text that grows. It is written into text nodes by hand, because React would compare the whole text for each word.
 * `text` must continue what was shown before; otherwise the element starts again.
 */
export function GrowingText({ text, className }: { text: string; className?: string | undefined }) {
  const holder = useRef<HTMLDivElement>(null)
  const shown = useRef<{ text: string; last: Text | null; size: number }>({ text: '', last: null, size: 0 })
  useLayoutEffect(() => {
    const element = holder.current
    if (!element) return
    if (!text.startsWith(shown.current.text)) {
      element.replaceChildren()
      shown.current = { text: '', last: null, size: 0 }
    }
    const now = shown.current
    let rest = visible(text.slice(now.text.length))
    now.text = text
    while (rest) {
      const isFull = now.size >= blockSize && (now.last?.data.endsWith('\n') || now.size >= blockSize * 4)
      if (!now.last || isFull) {
        now.last = addBlock(element)
        now.size = 0
      }
      const lineEnd = rest.indexOf('\n', Math.max(blockSize - now.size, 0))
      const part = rest.slice(0, Math.min(lineEnd < 0 ? rest.length : lineEnd + 1, blockSize * 4))
      now.last.appendData(part)
      now.size += part.length
      rest = rest.slice(part.length)
    }
  }, [text])
  return <div ref={holder} className={join(css['body'], className)} dir="auto" />
}

interface Piece {
  /** Its place in the text. */
  at: number
  text: string
  dataUrl?: string
}

/** The first `limit` characters of a text, not counting data URLs. */
function piecesOf(text: string, limit: number): { pieces: Piece[]; isCut: boolean } {
  const pieces: Piece[] = []
  let at = 0
  let left = limit
  const addText = (until: number) => {
    for (const block of blocksOf(text.slice(at, Math.min(until, at + left)))) {
      pieces.push({ at, text: visible(block) })
      at += block.length
      left -= block.length
    }
    return at === until
  }
  for (const { 0: dataUrl, index } of text.matchAll(longDataUrl)) {
    if (!addText(index)) return { pieces, isCut: true }
    pieces.push({ at, text: '', dataUrl })
    at += dataUrl.length
  }
  return { pieces, isCut: !addText(text.length) }
}

/** Splits a text into parts that are laid out fast: at a line end, and inside a line only if it is very long. */
function blocksOf(text: string): string[] {
  const blocks: string[] = []
  for (let from = 0; from < text.length; ) {
    const lineEnd = text.indexOf('\n', from + blockSize)
    const end = Math.min(lineEnd < 0 ? text.length : lineEnd + 1, from + blockSize * 4)
    blocks.push(text.slice(from, end))
    from = end
  }
  return blocks
}

function addBlock(element: HTMLElement): Text {
  const block = element.ownerDocument.createElement('div')
  block.className = css['block'] ?? ''
  block.dir = 'auto'
  const node = element.ownerDocument.createTextNode('')
  block.append(node)
  element.append(block)
  return node
}

/** Control characters, such as those of terminal colors, as their printed signs. */
function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, (control) =>
    String.fromCharCode(control === '\u007f' ? 0x2421 : 0x2400 + control.charCodeAt(0)),
  )
}
