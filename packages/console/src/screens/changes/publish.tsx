import type { PublishVersionBody } from '@stet/contract/vocabulary'
import type { ReleaseChecks, Version } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { toEntry } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { stet, useBlocked } from '../../app/session.ts'
import type { PromptChange } from '../../editor/diff/changed-prompts.ts'
import { changeText } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { counted } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import { Blockers, blockedBy, brokenIn, reasonIn, type useChecks } from './checks.tsx'
import type { LiveConflict } from './conflict.tsx'
import { GateLines, isGated } from './gates.tsx'
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
      {checks.data && <GateLines {...{ projectId, draft }} gates={checks.data.gates} hasPaths />}
      {checks.data && (
        <WaysAround
          checks={checks.data}
          isBusy={publish.isPending}
          onPublish={(more) => publish.mutate({ ...typed, ...more })}
        />
      )}
      {checks.isPending && <p className="faint">Checking the prompts…</p>}
      {checks.data && !reason && changes.length > 0 && (
        <p className="faint" role="status">{`${counted(changes.length, 'prompt')} checked, no errors`}</p>
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
      await navigate(toEntry(projectId, version.uuid))
    },
    // The checks and the list behind the dialog show what has changed meanwhile.
    onError: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  })
}

interface WaysProps {
  checks: ReleaseChecks
  isBusy: boolean
  onPublish: (more: PublishVersionBody) => void
}

function WaysAround({ checks, isBusy, onPublish }: WaysProps) {
  const needsAdmin = useBlocked('admin')
  return (
    <>
      {checks.conflicts.length > 0 && brokenIn(checks).length === 0 && (
        <PublishAnyway
          summary="Publish without comparing"
          label={
            <>
              Type <code>{forceWord}</code> to replace the live version
            </>
          }
          isBusy={isBusy}
          missingIn={(text) => text !== forceWord && `type ${forceWord} first`}
          onPublish={() => onPublish({ force: true })}
        />
      )}
      {isGated(checks) && (
        <>
          <Notice tone="red">
            <strong>The gates refuse this draft.</strong> Run the examples again, or fix what they show.
          </Notice>
          <PublishAnyway
            summary="Publish despite the gates"
            label="Reason"
            hint="The release keeps it with these verdicts."
            isBusy={isBusy}
            missingIn={(text) => needsAdmin || (!text.trim() && 'write a reason first')}
            onPublish={(reason) => onPublish({ reason: reason.trim(), override: ['gate'] })}
          />
        </>
      )}
    </>
  )
}

interface AnywayProps {
  summary: string
  label: ReactNode
  hint?: string
  isBusy: boolean
  /** What the typed text lacks. */
  missingIn: (text: string) => string | false
  onPublish: (text: string) => void
}

/** The way around a refusal, which the user has to type something for. */
function PublishAnyway({ summary, label, hint, isBusy, missingIn, onPublish }: AnywayProps) {
  const [text, setText] = useState('')
  return (
    <details className={css['way']}>
      <summary>{summary}</summary>
      <TextField {...{ label, hint }} maxLength={1000} value={text} onChange={({ target }) => setText(target.value)} />
      <Button look="danger" busy={isBusy} blocked={missingIn(text)} onClick={() => onPublish(text)}>
        Publish anyway
      </Button>
    </details>
  )
}
