import type { Change, Version } from '@stet/sdk'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { versionsQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { MergeEditor } from '../../editor/diff/merge-editor.tsx'
import { TextDiff } from '../../editor/diff/text-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice, Skeleton } from '../../ui/states.tsx'
import css from './page.module.css'
import { findBase, promptIn } from './queries.ts'

/** A prompt that both live and the draft changed. A hash is null where there is no such prompt. */
export interface Conflict {
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
  conflict: Conflict
  onClose: (isResolved: boolean) => void
}

const heads = { theirs: 'Live', mine: 'This draft, as it will be published' }

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
  const [merged, setMerged] = useState<string | null>(null)
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
  const { live, draft, base } = texts.data ?? {}
  const expected = { baseHash: draft?.contentHash ?? '', liveHash: live?.contentHash ?? '' }
  const save = () => {
    const content = merged ?? draft?.content
    const change: Change =
      content === undefined
        ? { path, status: 'deleted', liveHash: expected.liveHash }
        : movedTo === undefined
          ? { path, status: 'modified', content, ...expected }
          : { path: movedTo, from: path, status: 'moved', content, ...expected }
    return stet.versions.push(versionUuid, [change], { projectId })
  }
  const takeLive = () => stet.versions.revert(versionUuid, { projectId, paths: [path] })
  return (
    <Dialog
      title={<code>{movedTo === undefined ? path : `${path} → ${movedTo}`}</code>}
      text="Live and this draft changed the same prompt. The text on the right is what will be published."
      wide
      isFirm={merged !== null}
      open
      onClose={() => onClose(false)}
      actions={
        <>
          <Button onClick={() => onClose(false)}>Back</Button>
          <Button busy={work === 'busy'} onClick={resolve(takeLive)}>
            Use the live text
          </Button>
          <Button look="primary" busy={work === 'busy'} blocked={!texts.data && 'loading'} onClick={resolve(save)}>
            {!draft ? 'Keep it deleted' : live ? 'Use the text on the right' : 'Keep the draft’s text'}
          </Button>
        </>
      }
    >
      {texts.error && <Failure error={texts.error} what="The texts could not be loaded" onRetry={texts.refetch} />}
      {texts.isPending && <Skeleton lines={6} />}
      {typeof base === 'string' && live && (
        <details>
          <summary>What live changed</summary>
          <TextDiff before={base} after={live.content} layout="unified" label={`${path}, changed in live`} />
        </details>
      )}
      {texts.data && !live && <OneText notice="Live has deleted the prompt. The draft’s text:" text={draft?.content} />}
      {texts.data && !draft && <OneText notice="This draft deletes the prompt. The live text:" text={live?.content} />}
      {live && draft && (
        <div className={css['merge']}>
          <MergeEditor theirs={live.content} mine={draft.content} heads={heads} onChange={setMerged} />
        </div>
      )}
      {typeof work === 'object' && <Failure error={work.error} what="The text was not saved" />}
    </Dialog>
  )
}

/** The remaining text if live or the draft has deleted the prompt. */
function OneText({ notice, text }: { notice: string; text: string | undefined }) {
  return (
    <>
      <Notice tone="amber">{notice}</Notice>
      {text !== undefined && <Code text={text} label="text" />}
    </>
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
  return { live, draft, base }
}
