import type { Prompt } from '@stet/sdk'
import { useEffect, useRef } from 'react'

/**
 * Calls `rename` when an edit of the text replaces exactly one parameter by another. More differences are ambiguous, so
 * they rename nothing. A text that does not compile has no list of parameters and is skipped.
 */
export function useRenamedInput(
  { parameters, errors }: Pick<Prompt, 'parameters' | 'errors'>,
  textId: string,
  rename: (from: string, to: string) => void,
): void {
  const before = useRef({ textId, names: Object.keys(parameters) })
  useEffect(() => {
    if (errors.length > 0) return
    const last = before.current
    const names = Object.keys(parameters)
    before.current = { textId, names }
    if (last.textId !== textId) return
    const [from, ...otherGone] = last.names.filter((name) => !names.includes(name))
    const [to, ...otherNew] = names.filter((name) => !last.names.includes(name))
    if (from === undefined || to === undefined || otherGone.length > 0 || otherNew.length > 0) return
    rename(from, to)
  }, [parameters, errors, textId, rename])
}
