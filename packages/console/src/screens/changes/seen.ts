import { useState } from 'react'
import { store, stored } from '../../app/storage.ts'
import type { PromptChange } from '../../editor/diff/changed-prompts.ts'

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
      store(storageKey(versionUuid), next)
    },
  }
}

function readMarks(versionUuid: string): string[] {
  const marks = stored(storageKey(versionUuid))
  return Array.isArray(marks) ? marks.filter((mark) => typeof mark === 'string') : []
}
