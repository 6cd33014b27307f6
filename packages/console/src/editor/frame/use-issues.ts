import type { CompileIssue, Prompt, PromptCheck, PromptIssue } from '@stet/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { stet } from '../../app/session.ts'
import type { Opened } from '../open-prompt.ts'

/** An error keeps a text from compiling or running. */
export type FoundIssue = CompileIssue & Pick<PromptIssue, 'severity'>

/** The problems of a text. Their positions refer to `text`. */
export interface FoundIssues {
  issues: readonly FoundIssue[]
  text: string
}

/** Milliseconds after the last key, as before a save. */
const quietMs = 600
const none: readonly FoundIssue[] = []

/** Issues arrive with the stored text. A text that must not be saved now is checked without storing it. */
export function useIssues({ place, document, status, text }: Opened): FoundIssues {
  const isHeld = useHeld(status)
  const quiet = useQuietText(text, isHeld)
  const { projectId, versionUuid, path } = place
  const { data } = useQuery({
    // A query for each text: the response to an earlier text is ignored.
    queryKey: ['project', projectId, 'check', versionUuid, path, 'text', quiet],
    queryFn: async ({ signal }): Promise<FoundIssues> => {
      const prompt = quiet ?? ''
      const scope = { projectId, versionUuid, signal, maxRetries: 0 }
      return { issues: foundIn(await stet.prompts.check(path, { ...scope, prompt })), text: prompt }
    },
    enabled: isHeld && quiet !== null,
    // Until the next response, the issues of the earlier text move with the typed text.
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  const stored = useMemo(() => foundIn(document), [document])
  if (!isHeld) return { issues: stored, text: document.content }
  // In a conflict, `document` is the other text.
  return data ?? { issues: none, text }
}

export function isError({ severity }: FoundIssue): boolean {
  return severity === 'error'
}

/** Compile errors, settings that a run refuses, and then warnings. */
export function foundIn({ errors, issues }: Pick<Prompt | PromptCheck, 'errors' | 'issues'>): FoundIssue[] {
  return [...errors.map((error) => ({ ...error, severity: 'error' as const })), ...issues]
}

/** Whether the text must not be saved now. It may be refused again, so this lasts until it is saved. */
function useHeld(status: Opened['status']): boolean {
  const [isHeld, setHeld] = useState(false)
  const begins = status.kind === 'conflict' || (status.kind === 'kept' && status.problem.kind === 'refused')
  const ends = status.kind === 'saved' || status.kind === 'live'
  if (begins !== isHeld && (begins || ends)) setHeld(begins)
  return isHeld
}

/** The text 600 ms after its last change. */
function useQuietText(text: string, isHeld: boolean): string | null {
  const [quiet, setQuiet] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(isHeld ? text : null), isHeld ? quietMs : 0)
    return () => clearTimeout(timer)
  }, [text, isHeld])
  return isHeld ? quiet : null
}
