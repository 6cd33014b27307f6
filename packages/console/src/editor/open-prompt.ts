import type { Prompt } from '@stet/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { toPrompt } from '../app/addresses.ts'
import { versionsQuery } from '../app/queries.ts'
import { useBlocked } from '../app/session.ts'
import { openBuffers } from './buffer/open-buffers.ts'
import type { PromptBuffer, SavedPlace } from './buffer/prompt-buffer.ts'
import type { BufferSnapshot } from './buffer/snapshot.ts'
import type { PromptPlace } from './buffer/unsaved-copy.ts'

/** A prompt whose text has loaded. */
export type Opened = Extract<OpenPrompt, { phase: 'open' }>

/** The prompt of an address, with the text that the user sees and the truth about where it is saved. */
export type OpenPrompt =
  | { phase: 'loading' }
  | { phase: 'failed'; error: unknown; retry: () => void }
  | ({
      phase: 'open'
      /** For `<PromptEditor>`, and for everything that edits the text. It stays the same when a draft is found. */
      buffer: PromptBuffer
      /** Why the text cannot be edited, for example `your key lacks “write”`. Null if it can. */
      readOnly: string | null
      /** Why `edit` must not be called now: `readOnly`, or a conflict whose merge would overwrite the edit. */
      blocked: string | null
      /**
       * Saves now and resolves when the server has acknowledged the newest text. Without unsaved text it resolves at
       * once, also on live: a run can use the result's version in any case.
       *
       * @throws Error if the text cannot be saved now. It is kept.
       */
      save: () => Promise<SavedPlace>
      /** Replaces the text as one edit that can be undone. Only the part that differs is touched. */
      edit: (text: string) => void
    } & BufferSnapshot & { document: Prompt })

/**
 * Opens a prompt. All components that open the same one share its text. Typing on live finds a draft and replaces the
 * address; the text, its cursor and its undo history stay.
 */
export function useOpenPrompt({ projectId, versionUuid, path }: PromptPlace): OpenPrompt {
  const place = { projectId, versionUuid, path }
  const key = openBuffers.keyOf(place)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains the place
  const subscribe = useCallback((listener: () => void) => openBuffers.subscribe(place, listener), [key])
  const { buffer, error } = useSyncExternalStore(subscribe, () => openBuffers.get(place))
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains the place
  useEffect(() => openBuffers.use(place), [key])
  const snapshot = useSyncExternalStore(buffer?.subscribe ?? subscribeToNothing, () => buffer?.snapshot() ?? null)
  const readOnly = useReadOnly(place, buffer)
  useAddress(place, snapshot)
  useVersionsAfterRefusal(place, snapshot)

  if (error) return { phase: 'failed', error, retry: () => openBuffers.retry(place) }
  if (!buffer || !snapshot) return { phase: 'loading' }
  return {
    phase: 'open',
    ...snapshot,
    buffer,
    readOnly,
    blocked: snapshot.status.kind === 'conflict' ? 'resolve the conflict first' : readOnly,
    save: () => buffer.save(),
    edit: (text) => buffer.edit(text),
  }
}

function useReadOnly({ projectId, versionUuid }: PromptPlace, buffer: PromptBuffer | null): string | null {
  const blocked = useBlocked('write')
  const { data: versions } = useQuery(versionsQuery(projectId))
  const version = versions?.find(({ uuid, isLive }) => uuid === versionUuid || (isLive && versionUuid === 'live'))
  const isPublished = version?.status === 'merged'
  useEffect(() => {
    if (isPublished) buffer?.dispatch({ on: 'published' })
  }, [isPublished, buffer])
  if (blocked) return blocked
  return isPublished && !version.isLive ? 'published, but not live' : null
}

/** Follows the text into its draft, and to another path. */
function useAddress({ projectId, versionUuid, path }: PromptPlace, snapshot: BufferSnapshot | null): void {
  const navigate = useNavigate({ from: '/p/$project/v/$version/prompts/$' })
  const target = snapshot?.place
  useEffect(() => {
    if (!target || (target.versionUuid === versionUuid && target.path === path)) return
    void navigate({
      ...toPrompt(projectId, target.versionUuid, target.path),
      search: (search) => search,
      // The old path has no prompt to go back to.
      replace: target.path !== path,
    })
  }, [target, versionUuid, projectId, path, navigate])
}

/** The draft may have been deleted. Reading the versions at once shows it, before the user types much more. */
function useVersionsAfterRefusal({ projectId }: PromptPlace, snapshot: BufferSnapshot | null): void {
  const queries = useQueryClient()
  const isRefused = snapshot?.status.kind === 'kept' && snapshot.status.problem.kind === 'refused'
  useEffect(() => {
    if (isRefused) void queries.invalidateQueries({ queryKey: versionsQuery(projectId).queryKey })
  }, [isRefused, projectId, queries])
}

function subscribeToNothing(): () => void {
  return () => {}
}
