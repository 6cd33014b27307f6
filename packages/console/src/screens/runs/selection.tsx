import type { Run } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react'
import { Failure, messageOf } from '../../app/failure.tsx'
import { noticeSignedOut, stet, useBlocked } from '../../app/session.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import type { RunFilter } from '../../runs/run-filter.ts'
import { Button, join } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import layout from '../../ui/styles/layout.module.css'
import { counted, countText } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import { exportLimit, exportRuns, saveFile } from './export-runs.ts'
import css from './runs.module.css'
import { SaveRuns } from './save-runs.tsx'

interface SelectionProps {
  projectId: number
  filter: RunFilter
  /** The runs of the list. */
  rows: readonly Run[]
  selected: ReadonlySet<string>
  onSelect: Dispatch<SetStateAction<ReadonlySet<string>>>
}

/** The actions for the selected runs, or without a selection for all that the filter finds. */
export function Selection({ projectId, filter, rows, selected, onSelect }: SelectionProps) {
  const [isTagging, setTagging] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const needsRun = useBlocked('run')
  const needsWrite = useBlocked('write')
  const chosen = rows.filter(({ uuid }) => selected.has(uuid))
  const isNone = chosen.length === 0 && 'select runs first'
  const [toTag, toSave] = [isNone || needsRun, isNone || needsWrite]
  useShortcuts([
    { keys: 't', label: 'Tag the selected runs', group: 'Runs', blocked: toTag, run: () => setTagging(true) },
    {
      keys: 's',
      label: 'Save the selected runs as examples',
      group: 'Runs',
      blocked: toSave,
      run: () => setSaving(true),
    },
  ])
  return (
    <div className={join(layout['row'], css['selection'])}>
      <span className={join(layout['faint'], css['count'])} role="status">
        {chosen.length > 0 ? `${countText(chosen.length)} selected` : ''}
      </span>
      {chosen.length > 0 && (
        <>
          <Button shortcut="t" blocked={needsRun} onClick={() => setTagging(true)}>
            Tag
          </Button>
          <Button shortcut="s" blocked={needsWrite} onClick={() => setSaving(true)}>
            Save as examples
          </Button>
        </>
      )}
      <ExportButton {...{ projectId, filter, chosen }} />
      {chosen.length > 0 && (
        <Button look="quiet" onClick={() => onSelect(new Set())}>
          Clear the selection
        </Button>
      )}
      {isSaving && <SaveRuns projectId={projectId} runs={chosen} onClose={() => setSaving(false)} />}
      {isTagging && <TagDialog projectId={projectId} runs={chosen} onClose={() => setTagging(false)} />}
    </div>
  )
}

interface ExportProps extends Pick<SelectionProps, 'projectId' | 'filter'> {
  chosen: readonly Run[]
}

/** Writes a file with a run on each line. The work ends with the page, and a second click stops it. */
function ExportButton({ projectId, filter, chosen }: ExportProps) {
  const [count, setCount] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  const stop = useRef<AbortController>(null)
  useEffect(() => () => stop.current?.abort(), [])
  const start = async () => {
    const control = new AbortController()
    stop.current = control
    setError(null)
    setCount(0)
    try {
      const { signal } = control
      const { file, count: written } = await exportRuns({ projectId, filter, chosen, signal, onCount: setCount })
      saveFile(`runs-${projectId}.jsonl`, file)
      const isFull = written >= exportLimit
      const left = isFull ? 0 : chosen.length - written
      say(
        `Exported ${counted(written, 'run')}${isFull ? ', the most at once' : ''}${left > 0 ? `. ${counted(left, 'selected run')} left out: deleted, or outside of the filters by now` : ''}`,
      )
    } catch (failure) {
      if (control.signal.aborted) return
      noticeSignedOut(failure)
      setError(failure)
    } finally {
      setCount(null)
    }
  }
  return (
    <>
      {count === null ? (
        <Button look="quiet" onClick={() => void start()}>
          {chosen.length > 0 ? 'Export as JSONL' : 'Export all as JSONL'}
        </Button>
      ) : (
        <Button onClick={() => stop.current?.abort()}>Stop the export ({countText(count)})</Button>
      )}
      {error !== null && <Failure error={error} what="The runs were not exported" />}
    </>
  )
}

interface TagDialogProps {
  projectId: number
  runs: readonly Run[]
  onClose: () => void
}

function TagDialog({ projectId, runs, onClose }: TagDialogProps) {
  const [tag, setTag] = useState('')
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: async () => {
      // The tags belong to the conversation, which several of the runs may share.
      const conversations = new Set(runs.map(({ conversationUuid }) => conversationUuid))
      for (const uuid of conversations) await stet.conversations.update(uuid, { addTags: [tag.trim()] })
      return conversations.size
    },
    onSuccess: async (conversations) => {
      await client.invalidateQueries({ queryKey: ['project', projectId, 'runs'] })
      say(`Tagged ${counted(conversations, 'conversation')} with ${tag.trim()}`)
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Tag ${counted(runs.length, 'run')}`}
      text="The tag is added to the conversations of these runs."
      submit="Tag"
      busy={save.isPending}
      missing={!tag.trim() && 'it needs a name'}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Tag"
        maxLength={64}
        value={tag}
        problem={save.error && messageOf(save.error)}
        onChange={(event) => {
          setTag(event.target.value)
          save.reset()
        }}
      />
    </FormDialog>
  )
}
