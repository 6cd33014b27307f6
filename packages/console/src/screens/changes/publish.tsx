import type { PublishVersionBody } from '@stet/contract/vocabulary'
import type { Version } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { stet } from '../../app/session.ts'
import type { PromptChange } from '../../editor/diff/changed-prompts.ts'
import { changeText } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../ui/field.tsx'
import { counted } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import { Blockers, blockedBy, brokenIn, reasonIn, type useChecks } from './checks.tsx'
import type { LiveConflict } from './conflict.tsx'
import { GateLines, isGated, OverrideGates } from './gates.tsx'
import css from './page.module.css'

interface PublishProps {
  projectId: number
  draft: Version
  changes: readonly PromptChange[]
  checks: ReturnType<typeof useChecks>
  open: boolean
  onResolve: (conflict: LiveConflict) => void
  onClose: () => void
}

const forceWord = 'overwrite'

/** Names a draft and makes it live. Shows the problems that would block it before, each with its way out. */
export function PublishDialog({ projectId, draft, changes, checks, open, onResolve, onClose }: PublishProps) {
  // Only these are sent: a colleague may have changed the name or the notes of the draft meanwhile.
  const [typed, setTyped] = useState<{ title?: string; description?: string }>({})
  const publish = usePublish(projectId, draft.uuid, onClose)
  const close = () => {
    publish.reset()
    onClose()
  }
  const reason = reasonIn(checks.data)
  return (
    <FormDialog
      title="Publish"
      text={
        changes.length
          ? `${changeText(changes)}. The draft becomes live at once.`
          : 'The draft has no changes. Publishing it makes a new version with the same prompts as live.'
      }
      open={open}
      submit="Publish"
      busy={publish.isPending}
      missing={reason}
      onSubmit={() => publish.mutate(typed)}
      onClose={close}
    >
      <TextField
        label="Title"
        value={typed.title ?? draft.title}
        maxLength={256}
        onChange={({ target }) => setTyped({ ...typed, title: target.value })}
      />
      <TextAreaField
        label="Release notes"
        note="optional"
        value={typed.description ?? draft.description ?? ''}
        onChange={({ target }) => setTyped({ ...typed, description: target.value })}
      />
      <Blockers
        projectId={projectId}
        draft={draft}
        checks={checks}
        onResolve={(conflict) => {
          publish.reset()
          onResolve(conflict)
        }}
      />
      {checks.data && checks.data.conflicts.length > 0 && brokenIn(checks.data).length === 0 && (
        <Force isBusy={publish.isPending} onForce={() => publish.mutate({ ...typed, force: true })} />
      )}
      {checks.data && <GateLines {...{ projectId, draft }} gates={checks.data.gates} hasPaths />}
      {isGated(checks.data) && (
        <OverrideGates
          isBusy={publish.isPending}
          onOverride={(reason) => publish.mutate({ ...typed, reason, override: ['gate'] })}
        />
      )}
      {checks.isPending && <p className={css['faint']}>Checking the prompts…</p>}
      {checks.data && !reason && changes.length > 0 && (
        <p className={css['faint']} role="status">{`${counted(changes.length, 'prompt')} checked, no errors`}</p>
      )}
      {publish.error && <Failure what="Nothing was published" error={publish.error} />}
    </FormDialog>
  )
}

/** Publishes the draft and shows it in the history. */
function usePublish(projectId: number, versionUuid: string, onPublished: () => void) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (body: PublishVersionBody) =>
      stet.versions.publish(versionUuid, { projectId, block: [blockedBy], ...body }),
    onSuccess: async (version) => {
      await queries.invalidateQueries({ queryKey: ['project', projectId] })
      say(`v${version.version} is live`)
      onPublished()
      await navigate({ to: '/p/$project/history/$entry', params: { project: String(projectId), entry: version.uuid } })
    },
    // The checks and the list behind the dialog show what has changed meanwhile.
    onError: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  })
}

function Force({ isBusy, onForce }: { isBusy: boolean; onForce: () => void }) {
  const [typed, setTyped] = useState('')
  return (
    <details className={css['way']}>
      <summary>Publish without comparing</summary>
      <TextField
        label={
          <>
            Type <code>{forceWord}</code> to replace the live version
          </>
        }
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Button look="danger" busy={isBusy} blocked={typed !== forceWord && `type ${forceWord} first`} onClick={onForce}>
        Publish anyway
      </Button>
    </details>
  )
}
