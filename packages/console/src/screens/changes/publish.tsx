import type { PublishVersionBody } from '@stet/contract/vocabulary'
import { ApiError, type ReleaseFinding, type Version } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { stet } from '../../app/session.ts'
import { changeText, type PromptChange } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { say } from '../../ui/toast.tsx'
import { Broken, type BrokenPrompt, PublishChecks } from './checks.tsx'
import { ConflictDialog, type LiveConflict } from './conflict.tsx'
import css from './page.module.css'

interface PublishProps {
  projectId: number
  draft: Version
  changes: readonly PromptChange[]
  open: boolean
  onClose: () => void
}

const forceWord = 'overwrite'

/** Names a draft and makes it live. What stops it is shown here, each with its way out. */
export function PublishDialog({ projectId, draft, changes, open, onClose }: PublishProps) {
  // Only these are sent: a colleague may have changed the name or the notes of the draft meanwhile.
  const [typed, setTyped] = useState<{ title?: string; description?: string }>({})
  const [resolving, setResolving] = useState<LiveConflict | null>(null)
  const publish = usePublish(projectId, draft.uuid, onClose)
  const close = () => {
    publish.reset()
    onClose()
  }
  const conflicts = detailsOf<LiveConflict>(publish.error, 'live-changed', 'conflicts')
  const broken = brokenOf(publish.error)
  return (
    <>
      <FormDialog
        title="Publish"
        text={
          changes.length
            ? `${changeText(changes)}. The draft becomes live at once.`
            : 'The draft has no changes. Publishing it makes a new version with the same prompts as live.'
        }
        open={open && resolving === null}
        submit="Publish"
        busy={publish.isPending}
        missing={conflicts !== null && 'live has changed'}
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
        <PublishChecks
          projectId={projectId}
          versionUuid={draft.uuid}
          changes={changes}
          refusal={
            conflicts ? (
              <Conflicts
                conflicts={conflicts}
                onResolve={setResolving}
                onForce={() => publish.mutate({ ...typed, force: true })}
                isBusy={publish.isPending}
              />
            ) : broken ? (
              <Broken projectId={projectId} versionUuid={draft.uuid} documents={broken}>
                <strong>Nothing was published.</strong> These prompts have errors.
              </Broken>
            ) : (
              publish.error && <Failure what="Nothing was published" error={publish.error} />
            )
          }
        />
      </FormDialog>
      {resolving && (
        <ConflictDialog
          projectId={projectId}
          versionUuid={draft.uuid}
          conflict={resolving}
          onClose={(isResolved) => {
            setResolving(null)
            if (isResolved) publish.reset()
          }}
        />
      )}
    </>
  )
}

/** Publishes the draft and shows it in the history. */
function usePublish(projectId: number, versionUuid: string, onPublished: () => void) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (body: PublishVersionBody) =>
      stet.versions.publish(versionUuid, { projectId, block: ['configuration'], ...body }),
    onSuccess: async (version) => {
      await queries.invalidateQueries({ queryKey: ['project', projectId] })
      say(`v${version.version} is live`)
      onPublished()
      await navigate({ to: '/p/$project/history/$entry', params: { project: String(projectId), entry: version.uuid } })
    },
    // The list behind the dialog shows what live changed meanwhile.
    onError: () => queries.invalidateQueries({ queryKey: ['project', projectId, 'diff', versionUuid] }),
  })
}

interface ConflictsProps {
  conflicts: readonly LiveConflict[]
  onResolve: (conflict: LiveConflict) => void
  onForce: () => void
  isBusy: boolean
}

function Conflicts({ conflicts, onResolve, onForce, isBusy }: ConflictsProps) {
  const [typed, setTyped] = useState('')
  return (
    <>
      <Notice tone="red" urgent>
        <strong>Nothing was published.</strong> These prompts were published after you changed them. Compare both texts,
        then publish again.
      </Notice>
      <ul className={css['documents']}>
        {conflicts.map((conflict) => (
          <li key={conflict.path} className={css['row']}>
            <span className={css['path']}>{conflict.path}</span>
            <Button onClick={() => onResolve(conflict)}>Compare and merge</Button>
          </li>
        ))}
      </ul>
      <details>
        <summary>Publish without comparing</summary>
        <TextField
          label={
            <>
              Type <code>{forceWord}</code> to replace what is live now
            </>
          }
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Button
          look="danger"
          busy={isBusy}
          blocked={typed !== forceWord && `type ${forceWord} first`}
          onClick={onForce}
        >
          Publish anyway
        </Button>
      </details>
    </>
  )
}

/** The prompts that a refusal of the server names. */
function brokenOf(error: unknown): readonly BrokenPrompt[] | null {
  const [refused] = detailsOf<{ findings: ReleaseFinding[] }>(error, 'release-refused', 'checks') ?? []
  if (!refused) return detailsOf<BrokenPrompt>(error, 'draft-does-not-compile', 'documents')
  const paths = [...new Set(refused.findings.map(({ path }) => path))]
  return paths.map((path) => ({ path, errors: refused.findings.filter((found) => found.path === path) }))
}

/** Returns the list in `details` if the error has this cause. */
function detailsOf<Entry>(error: unknown, reason: string, key: string): readonly Entry[] | null {
  if (!(error instanceof ApiError) || error.reason !== reason) return null
  const list = (error.details as Record<string, unknown> | null)?.[key]
  return Array.isArray(list) ? (list as readonly Entry[]) : null
}
