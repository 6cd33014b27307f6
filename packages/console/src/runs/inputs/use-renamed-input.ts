import type { Prompt } from '@stet/sdk'
import { useEffect, useRef } from 'react'

/**
 * Calls `rename` when an edit of the text replaces exactly one parameter by another. A text that does not compile has no
 * list of parameters and is skipped.
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
    const renamed = renamedInput(last.names, names)
    if (renamed) rename(...renamed)
  }, [parameters, errors, textId, rename])
}

/** The old and the new name of the one parameter that has another name, if only one differs. */
export function renamedInput(before: readonly string[], after: readonly string[]): [from: string, to: string] | null {
  const [from, ...otherGone] = before.filter((name) => !after.includes(name))
  const [to, ...otherNew] = after.filter((name) => !before.includes(name))
  if (from === undefined || to === undefined || otherGone.length > 0 || otherNew.length > 0) return null
  return [from, to]
}
