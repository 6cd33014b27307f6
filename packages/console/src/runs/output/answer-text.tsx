import { lazy, Suspense, useMemo } from 'react'
import { JsonTree } from '../../ui/json-tree.tsx'
import { answerCutAt, MessageBody } from '../../ui/message-body.tsx'

const Markdown = lazy(() => import('../../ui/markdown.tsx'))

/** Parsing a longer answer would block the page. */
const longestJson = 1_000_000

/** An answer: an object as a tree, other texts as Markdown, and both as they were written if the reader wants that. */
export function AnswerText({ text, isRaw }: { text: string; isRaw: boolean }) {
  const value = useMemo(() => (isRaw ? null : objectIn(text)), [text, isRaw])
  const plain = <MessageBody text={text} limit={answerCutAt} />
  if (isRaw) return plain
  if (value) return <JsonTree value={value} label="Answer" />
  return (
    <Suspense fallback={plain}>
      <Markdown text={text} />
    </Suspense>
  )
}

/** The object or list that the text is in JSON. Null for other texts. */
function objectIn(text: string): object | null {
  if (!/^\s*[[{]/.test(text) || text.length > longestJson) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
