import { hasReason } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { toEntry } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { diffQuery, versionsQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { changedPrompts, type PromptChange } from '../../editor/diff/changed-prompts.ts'
import { ChangedText, changeText } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice, Skeleton } from '../../ui/states.tsx'
import { say } from '../../ui/toast.tsx'
import { entryOf, nameOf, type TextsRow } from './history-rows.ts'

interface RollBackProps {
  projectId: number
  target: TextsRow
  /** The texts that live serves now. */
  live: TextsRow
  onClose: () => void
}

/** Shows what would change in live, then lets live serve earlier texts again. */
export function RollBackDialog({ projectId, target, live, onClose }: RollBackProps) {
  // Live as the user reads it and the server expects it. The list of versions may change meanwhile.
  const [compared, setCompared] = useState(live)
  const [reason, setReason] = useState('')
  const diff = useQuery({ ...diffQuery(projectId, target.texts, compared.texts), select: changedPrompts })
  const rollBack = useRollBack({ projectId, target, live: compared, onClose })
  const moved = hasReason(rollBack.error, 'moved') ? rollBack.error.details : null
  const served = useServed(projectId, moved?.current)
  const compareAgain = () => {
    setCompared(live)
    rollBack.reset()
  }
  return (
    <FormDialog
      title={`Roll back to ${target.name}`}
      text={`Live serves the texts of ${target.name} again, at once. Nothing is removed from the history.`}
      wide
      submit="Roll back"
      busy={rollBack.isPending}
      missing={moved ? 'live has changed' : !diff.data && 'loading'}
      onSubmit={() => rollBack.mutate(reason.trim())}
      // The result belongs to this dialog, so the dialog stays until it is there.
      onClose={() => rollBack.isPending || onClose()}
    >
      {diff.isPending && <Skeleton lines={4} />}
      {diff.error && <Failure error={diff.error} what="The changes could not be loaded" onRetry={diff.refetch} />}
      {diff.data && (
        <p>
          {diff.data.changes.length
            ? `${changeText(diff.data.changes)}, compared with ${compared.name}, which is live.`
            : `Live has the texts of ${target.name} already, in ${compared.name}.`}
        </p>
      )}
      {diff.data && <Changes key={compared.texts} changes={diff.data.changes} />}
      <TextField
        label="Reason"
        note="optional"
        value={reason}
        maxLength={1000}
        onChange={({ target: { value } }) => setReason(value)}
      />
      {moved ? (
        <Notice tone="amber" urgent actions={<Button onClick={compareAgain}>Compare again</Button>}>
          <strong>Nothing was rolled back.</strong> Live does not serve {compared.name} any more
          {served && `: it serves ${served}`}.
        </Notice>
      ) : (
        rollBack.error && <Failure error={rollBack.error} what="Nothing was rolled back" />
      )}
    </FormDialog>
  )
}

/** The name of the version that live served when it refused, once the list has it. */
function useServed(projectId: number, versionUuid: string | null | undefined): string | undefined {
  const { data: versions } = useQuery(versionsQuery(projectId))
  const served = versions?.find(({ uuid }) => uuid === versionUuid)
  return served && nameOf(served.version, served.revision)
}

/** Sends the reason unless it is empty. The server refuses the call if live does not serve the version of `live`. */
function useRollBack({ projectId, target, live, onClose }: RollBackProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (reason: string) =>
      stet.environments.rollback('live', {
        projectId,
        to: target.texts,
        expectedVersionUuid: live.version.uuid,
        ...(reason && { reason }),
      }),
    onSuccess: async ({ environment: { version } }) => {
      onClose()
      if (!version) return
      const name = nameOf(version.number, version.revision)
      say(name === target.name ? `${name} is live` : `${name} is live, with the texts of ${target.name}`)
      await navigate(toEntry(projectId, entryOf(version)))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  })
}

/** A prompt is compared when it is opened. */
function Changes({ changes }: { changes: readonly PromptChange[] }) {
  const [shown, setShown] = useState(changes.length === 1 ? changes[0]?.path : undefined)
  return changes.map((change) => {
    const { path } = change
    const isShown = shown === path
    return (
      <details key={path} open={isShown} onToggle={({ currentTarget }) => currentTarget.open && setShown(path)}>
        <summary>
          <code>{path}</code>
        </summary>
        {isShown && <ChangedText change={change} layout="unified" />}
      </details>
    )
  })
}
