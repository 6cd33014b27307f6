import { ApiError } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { diffQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { TextDiff } from '../../editor/diff/text-diff.tsx'
import { changeText } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice, Skeleton } from '../../ui/states.tsx'
import { say } from '../../ui/toast.tsx'
import { entryOf, nameOf, type TextsRow } from './history-rows.ts'

interface RollBackProps {
  projectId: number
  target: TextsRow
  /** What live serves now. */
  live: TextsRow
  onClose: () => void
}

/** Shows what would change in live, then lets live serve earlier texts again. */
export function RollBackDialog({ projectId, target, live, onClose }: RollBackProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  // The changes that the user reads, and the version that the server expects. The list of versions may move on meanwhile.
  const [compared, setCompared] = useState(live)
  const [reason, setReason] = useState('')
  const [shown, setShown] = useState<string | null>(null)
  const diff = useQuery(diffQuery(projectId, target.texts, compared.texts))
  const rollBack = useMutation({
    mutationFn: () =>
      stet.environments.rollback('live', {
        projectId,
        to: target.texts,
        expectedVersionUuid: compared.version.uuid,
        ...(reason.trim() && { reason: reason.trim() }),
      }),
    onSuccess: async ({ environment: { version } }) => {
      onClose()
      if (!version) return
      const name = nameOf(version.number, version.revision)
      say(name === target.name ? `${name} is live` : `${name} is live, with the texts of ${target.name}`)
      const params = { project: String(projectId), entry: entryOf(version) }
      await navigate({ to: '/p/$project/history/$entry', params })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  })
  const changes = diff.data?.changes ?? []
  const hasMoved = rollBack.error instanceof ApiError && rollBack.error.reason === 'moved'
  return (
    <FormDialog
      title={`Roll back to ${target.name}`}
      text={`Live serves the texts of ${target.name} again, at once. Nothing is removed from the history.`}
      wide
      submit="Roll back"
      busy={rollBack.isPending}
      missing={hasMoved ? 'live has changed' : !diff.data && 'loading'}
      onSubmit={() => rollBack.mutate()}
      onClose={onClose}
    >
      {diff.isPending && <Skeleton lines={4} />}
      {diff.error && <Failure error={diff.error} what="The changes could not be loaded" onRetry={diff.refetch} />}
      {diff.data && (
        <p>
          {changes.length
            ? `${changeText(changes)}, compared with ${compared.name}, which is live.`
            : `Live has the texts of ${target.name} already, in ${compared.name}.`}
        </p>
      )}
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
              label={`${path}, after the rollback`}
            />
          )}
        </details>
      ))}
      <TextField
        label="Reason"
        note="optional"
        value={reason}
        maxLength={1000}
        onChange={({ target: { value } }) => setReason(value)}
      />
      {hasMoved ? (
        <Notice
          tone="amber"
          urgent
          actions={
            <Button
              onClick={() => {
                setCompared(live)
                rollBack.reset()
              }}
            >
              Compare again
            </Button>
          }
        >
          <strong>Nothing was rolled back.</strong> Live does not serve {compared.name} any more: it serves {live.name}.
        </Notice>
      ) : (
        rollBack.error && <Failure error={rollBack.error} what="Nothing was rolled back" />
      )}
    </FormDialog>
  )
}
