import { useState } from 'react'
import type { PromptChange } from '../../app/changed-prompts.ts'

const storageKey = (versionUuid: string) => `stet.seen.${versionUuid}`

/**
 * The changes of a draft that the user has looked at, kept in this browser. A mark is for one text: it goes when the
 * prompt changes again.
 */
export function useSeen(versionUuid: string) {
  const [marks, setMarks] = useState(() => readMarks(versionUuid))
  const markOf = ({ path, after }: PromptChange) => `${path} ${after?.contentHash ?? 'deleted'}`
  return {
    isSeen: (change: PromptChange) => marks.includes(markOf(change)),
    toggle(change: PromptChange) {
      const mark = markOf(change)
      const next = marks.includes(mark) ? marks.filter((other) => other !== mark) : [...marks, mark]
      setMarks(next)
      try {
        localStorage.setItem(storageKey(versionUuid), JSON.stringify(next))
      } catch {
        // Without storage the marks last as long as the screen.
      }
    },
  }
}

function readMarks(versionUuid: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey(versionUuid)) ?? '[]')
    return Array.isArray(stored) ? stored.filter((mark) => typeof mark === 'string') : []
  } catch {
    return []
  }
}
