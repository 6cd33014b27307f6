import type { Change, Version } from '@stet/sdk'
import { mergeLines } from '@stet/template/merge'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { versionsQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { openBuffers } from '../../editor/buffer/open-buffers.ts'
import { Conflict } from '../../editor/diff/conflict.tsx'
import { TextDiff } from '../../editor/diff/text-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Skeleton } from '../../ui/states.tsx'
import css from './page.module.css'
import { findBase, promptIn } from './queries.ts'

/** A prompt that both live and the draft changed. A hash is null where there is no such prompt. */
export interface LiveConflict {
  path: string
  baseHash: string | null
  liveHash: string | null
  draftHash: string | null
  /** The path to which the draft moves the prompt. */
  movedTo?: string
}

interface ConflictProps {
  projectId: number
  versionUuid: string
  conflict: LiveConflict
  onClose: (isResolved: boolean) => void
}

/** Shows what live changed, and lets the user write the text that contains both changes. */
export function ConflictDialog({ projectId, versionUuid, conflict, onClose }: ConflictProps) {
  const { path, baseHash, movedTo } = conflict
  const queries = useQueryClient()
  const { data: versions } = useSuspenseQuery(versionsQuery(projectId))
  const texts = useQuery({
    // Not below the project's key, whose invalidation would replace the texts that the user is merging. A newer
    // publication is refused when the merged text is saved.
    queryKey: ['conflict', projectId, versionUuid, path],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: () => readTexts({ projectId, versionUuid, path, movedTo, baseHash }, versions),
  })
  const { live, draft, base, merged = null, isClean } = texts.data ?? {}
  const [edited, setEdited] = useState<string | null>(null)
  const [work, setWork] = useState<'idle' | 'busy' | { error: unknown }>('idle')
  const resolve = (change: () => Promise<unknown>) => async () => {
    setWork('busy')
    try {
      await change()
      await queries.invalidateQueries({ queryKey: ['project', projectId] })
      onClose(true)
    } catch (error) {
      setWork({ error })
    }
  }
  const save = () => {
    const hashes = { baseHash: draft?.contentHash ?? '', liveHash: live?.contentHash ?? '' }
    const content = edited ?? merged
    const change: Change =
      content === null
        ? { path, status: 'deleted', liveHash: hashes.liveHash }
        : movedTo === undefined
          ? { path, status: 'modified', content, ...hashes }
          : { path: movedTo, from: path, status: 'moved', content, ...hashes }
    return stet.versions.push(versionUuid, [change], { projectId })
  }
  const takeLive = () => openBuffers.revert({ projectId, versionUuid, path })
  return (
    <Dialog
      title={<code>{movedTo === undefined ? path : `${path} → ${movedTo}`}</code>}
      wide
      isFirm={edited !== null}
      onClose={() => onClose(false)}
      actions={<Button onClick={() => onClose(false)}>Back</Button>}
    >
      {texts.error && <Failure error={texts.error} what="The texts could not be loaded" onRetry={texts.refetch} />}
      {texts.isPending && <Skeleton lines={6} />}
      {typeof base === 'string' && live && (
        <details>
          <summary>Changes in live</summary>
          <TextDiff before={base} after={live.content} layout="unified" label={`${path}, changed in live`} />
        </details>
      )}
      {texts.data && (
        <Conflict
          what={
            !live
              ? 'Live has deleted the prompt. The draft’s text:'
              : !draft
                ? 'This draft deletes the prompt. The live text:'
                : `Live and this draft changed ${isClean ? 'different' : 'the same'} lines. The text on the right is what will be published.`
          }
          className={css['merge']}
          stored={{
            ...{ name: 'Live', text: live?.content ?? null },
            ...{ choice: 'Use the live text', onChoose: resolve(takeLive) },
          }}
          edited={{
            ...{ name: 'In this draft', text: merged, onChoose: resolve(save) },
            choice: !draft ? 'Keep it deleted' : live ? 'Use the text on the right' : 'Keep the draft’s text',
          }}
          busy={work === 'busy'}
          onChange={setEdited}
        />
      )}
      {typeof work === 'object' && <Failure error={work.error} what="The text was not saved" />}
    </Dialog>
  )
}

interface TextAddress {
  projectId: number
  versionUuid: string
  path: string
  movedTo: string | undefined
  baseHash: string | null
}

async function readTexts(address: TextAddress, versions: readonly Version[]) {
  const { projectId, versionUuid, path, movedTo = path } = address
  const published = versions.filter(({ status }) => status === 'merged')
  const [live, draft, base] = await Promise.all([
    promptIn(projectId, 'live', path),
    promptIn(projectId, versionUuid, movedTo),
    findBase(published, address),
  ])
  // The text already has live's changes of other lines.
  const both = live && draft && mergeLines({ base: base ?? undefined, mine: draft.content, theirs: live.content })
  return { live, draft, base, merged: both?.text ?? draft?.content ?? null, isClean: both?.regions.length === 0 }
}
