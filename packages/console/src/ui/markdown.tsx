import { lexer, type TokensList } from 'marked'
import { useEffect, useState } from 'react'
import { elementsOf } from './markdown-elements.tsx'
import { MessageBody } from './message-body.tsx'
import css from './styles/markdown.module.css'

/** marked's lexer is slow and recursive on odd texts: 60 KB took up to 0.9 s. Longer texts are shown as they are. */
const longest = 32_768
/** The texts that wait. Each is read in a task of its own, so that the page stays responsive between them. */
const waiting: (() => void)[] = []

/** A text of a model as formatted Markdown. Shows the text itself until it is read, and if it cannot be read. */
export default function Markdown({ text }: { text: string }) {
  const tokens = useTokens(text)
  if (!tokens) return <MessageBody text={text} limit={longest} />
  return (
    <div className={css['markdown']} dir="auto">
      {elementsOf(tokens)}
    </div>
  )
}

/** Whether a text is short enough, and has no file inside, which only the plain form shows as a chip. */
export function isReadable(text: string): boolean {
  return text.length <= longest && !text.includes(';base64,')
}

function useTokens(text: string): TokensList | null {
  const [read, setRead] = useState<{ text: string; tokens: TokensList | null } | null>(null)
  useEffect(() => {
    if (!isReadable(text)) return
    return inOwnTask(() => setRead({ text, tokens: tokensOf(text) }))
  }, [text])
  return read?.text === text ? read.tokens : null
}

/** Null for a text that the lexer does not get through, for example 10,000 nested quotes. */
function tokensOf(text: string): TokensList | null {
  try {
    return lexer(text)
  } catch {
    return null
  }
}

/** Returns the function that takes the work back. */
function inOwnTask(work: () => void): () => void {
  waiting.push(work)
  if (waiting.length === 1) setTimeout(nextTask)
  return () => {
    const at = waiting.indexOf(work)
    if (at >= 0) waiting[at] = () => {}
  }
}

function nextTask(): void {
  const work = waiting[0]
  try {
    work?.()
  } finally {
    waiting.shift()
    if (waiting.length > 0) setTimeout(nextTask)
  }
}
