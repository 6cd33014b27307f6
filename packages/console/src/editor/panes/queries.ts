import { queryOptions } from '@tanstack/react-query'
import { stet } from '../../app/session.ts'

interface CheckedText {
  projectId: number
  versionUuid: string
  path: string
  /** The hash of the stored text. Each text has a check of its own, so only the newest one is shown. */
  contentHash: string
  /** Values for the preview. */
  parameters?: Record<string, unknown> | undefined
}

/** Compiles the stored text of a prompt, with its references. */
export function checkQuery({ projectId, versionUuid, path, contentHash, parameters }: CheckedText) {
  return queryOptions({
    queryKey: ['project', projectId, 'check', versionUuid, path, contentHash, parameters],
    queryFn: ({ signal }) =>
      stet.prompts.check(path, { projectId, versionUuid, ...(parameters && { parameters }), signal }),
    gcTime: 30_000,
    // While a text is being typed, the check of the text before it stays. Another prompt's is never shown.
    placeholderData: (check, query) => (query?.queryKey[4] === path ? check : undefined),
  })
}
