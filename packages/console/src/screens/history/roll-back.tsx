import type { Change, Version } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { stet } from '../../app/session.ts'
import { TextDiff } from '../../editor/diff/text-diff.tsx'
import { changeText, type PromptChange } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { say } from '../../ui/toast.tsx'
import css from './page.module.css'

interface RollBackProps {
  projectId: number
  target: Version
  live: Version | undefined
  onClose: () => void
}

/** Shows what would change in live, then publishes the contents of an earlier version as a new one. */
export function RollBackDialog({ projectId, target, live, onClose }: RollBackProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [shown, setShown] = useState<string | null>(null)
  const diff = useQuery({
    queryKey: ['project', projectId, 'roll-back', live?.uuid, target.uuid],
    queryFn: ({ signal }) => stet.versions.diff(target.uuid, { projectId, base: 'live', signal }),
    gcTime: 0,
  })
  const rollBack = useMutation({
    mutationFn: (changes: readonly PromptChange[]) => publishEarlier(projectId, target, changes),
    onSuccess: async (version) => {
      say(`v${version.version} is live, with the contents of v${target.version}`)
      onClose()
      await navigate({ to: '/p/$project/history/$entry', params: { project: String(projectId), entry: version.uuid } })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  })
  const changes = diff.data?.changes ?? []
  const blocked = diff.isPending ? 'loading' : changes.length === 0 && 'live already equals this version'
  return (
    <Dialog
      title={`Roll back to v${target.version}`}
      text={`The contents of v${target.version} become a new version. Nothing is removed from the history.`}
      wide
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={rollBack.isPending} blocked={blocked} onClick={() => rollBack.mutate(changes)}>
            Roll back
          </Button>
        </>
      }
    >
      {diff.isPending && <Skeleton lines={4} />}
      {diff.error && <Failure error={diff.error} what="The changes could not be loaded" onRetry={diff.refetch} />}
      {diff.data && <p>{changes.length ? `${changeText(changes)}.` : `Live already equals v${target.version}.`}</p>}
      {changes.map(({ path, before, after }) => (
        <details
          key={path}
          open={shown === path || changes.length === 1}
          onToggle={({ currentTarget }) => currentTarget.open && setShown(path)}
        >
          <summary>
            <code>{path}</code>
          </summary>
          {(shown === path || changes.length === 1) && (
            <TextDiff
              before={before?.content ?? ''}
              after={after?.content ?? ''}
              layout="unified"
              label={`${path}, after the roll-back`}
            />
          )}
        </details>
      ))}
      {rollBack.error && (
        <Failure error={rollBack.error} what="Live has not changed">
          <p className={css['faint']}>The draft “{titleFor(target)}” may remain. Publish it, or revert it, by hand.</p>
        </Failure>
      )}
    </Dialog>
  )
}

/** A draft with the earlier contents, published. Each change expects the text of live that was just shown. */
async function publishEarlier(projectId: number, target: Version, changes: readonly PromptChange[]): Promise<Version> {
  const draft = await stet.versions.create(titleFor(target), { projectId })
  await stet.versions.push(draft.uuid, changes.map(toChange), { projectId })
  return stet.versions.publish(draft.uuid, { projectId })
}

function toChange({ path, status, before, after }: PromptChange): Change {
  const baseHash = before?.contentHash ?? ''
  return { path, status, baseHash, ...(after && { content: after.content }) }
}

function titleFor({ version }: Version): string {
  return `rollback to v${version}`
}
