import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Button, join } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { bytesOf, mediaTypeOf, sizeText } from './data-url.ts'
import { withSigns } from './hidden-characters.ts'
import { Chip } from './mark.tsx'
import { blockSize, piecesOf } from './message-text.ts'
import css from './styles/message-body.module.css'

/** Bodies are cut after this many characters. */
const cutAt = 4096
/** The answer that was just given is the reason to look, so it is cut much later. */
export const answerCutAt = 65_536

interface MessageBodyProps {
  /** Output of a model or a tool. Always shown as text. */
  text: string
  /** Characters that are shown before "Show all". */
  limit?: number
  className?: string | undefined
  /** Shows a part of the text, if that is more than its characters. */
  render?: (text: string) => ReactNode
}

/** The reasoning of a model, closed unless `open` says otherwise. */
export function Reasoning({ open, children }: { open?: boolean; children: ReactNode }) {
  return (
    <details className={css['reasoning']} open={open}>
      <summary>Reasoning</summary>
      {children}
    </details>
  )
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
    let rest = withSigns(text.slice(now.text.length))
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

function addBlock(element: HTMLElement): Text {
  const block = element.ownerDocument.createElement('div')
  block.className = css['block'] ?? ''
  block.dir = 'auto'
  const node = element.ownerDocument.createTextNode('')
  block.append(node)
  element.append(block)
  return node
}
