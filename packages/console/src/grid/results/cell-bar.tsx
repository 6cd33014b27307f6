import type { Experiment, ExperimentItem, ExperimentRow } from '@stet/contract/vocabulary'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { useBlocked } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ActionBar } from '../action-bar.tsx'
import css from '../grid.module.css'
import { FieldForm } from '../rows/editable-cell.tsx'
import { fieldOf } from '../rows/row-fields.ts'
import type { useCellChanges } from './use-cell-changes.ts'

const noOwn = 'it has no label by a person'

interface CellBarProps {
  experiment: Experiment
  row: ExperimentRow
  item: ExperimentItem | undefined
  changes: ReturnType<typeof useCellChanges>
  onOpen: () => void
  /** Runs the row again, in an experiment of its own. */
  onAgain: (row: ExperimentRow) => void
}

/** What can be done with the chosen cell, each with its key. */
export function CellBar({ experiment, row, item, changes, onOpen, onAgain }: CellBarProps) {
  const [editing, setEditing] = useState<'expected' | 'tags' | null>(null)
  const needsRun = useBlocked('run')
  const needsWrite = useBlocked('write')
  const { label, noLabel, isLabeled, edit, undo } = changes
  const noAnswer = !item?.conversationUuid && 'there is no answer yet'
  const isDeleted = row.parameters === null && 'the example was deleted'
  const noText = !item?.answer ? 'there is no text' : item.isAnswerCut && 'the answer is too long to be shown whole'
  const mark = (passed: boolean | null) => item && label.mutate({ row, item, passed })
  const values = { ...row, uuid: row.exampleUuid, parameters: row.parameters ?? {}, checks: [] }
  const saveAnswer = () => edit.mutate({ row: values, field: fieldOf('expected'), text: item?.answer ?? '' })
  const toEdit = isDeleted || needsWrite
  const actions = [
    { keys: 'y', text: 'Right', blocked: noAnswer || noLabel || needsRun, run: () => mark(true) },
    { keys: 'n', text: 'Wrong', blocked: noAnswer || noLabel || needsRun, run: () => mark(false) },
    { keys: 'x', text: 'Remove label', blocked: needsRun || (!isLabeled(item) && noOwn), run: () => mark(null) },
    { keys: 'e', text: 'Edit expected', blocked: toEdit, run: () => setEditing('expected') },
    { keys: 's', text: 'Save as expected', blocked: toEdit || noText, run: saveAnswer },
    { keys: 't', text: 'Tags', blocked: toEdit, run: () => setEditing('tags') },
    { keys: 'r', text: 'Run again', blocked: isDeleted || needsRun, run: () => onAgain(row) },
    { keys: 'z', text: 'Undo', run: undo },
  ]
  const error = label.error ?? (editing ? null : edit.error)
  const close = () => {
    if (edit.error) edit.reset()
    setEditing(null)
  }
  const arm = experiment.arms[item?.arm ?? 0]?.label
  return (
    <>
      <ActionBar
        label={`The answer to ${row.name} by ${arm}`}
        group="Results"
        about={row.name}
        className={css['bar']}
        actions={actions}
      >
        <Button look="quiet" shortcut="⏎" blocked={noAnswer} onClick={onOpen}>
          Open the run
        </Button>
      </ActionBar>
      {error && <Failure error={error} what="The change was not saved" />}
      {editing && (
        <Dialog title={row.name} text="⏎ saves. Answers are scored again; nothing runs." open onClose={close}>
          <FieldForm row={values} field={fieldOf(editing)} change={edit} onClose={close} />
        </Dialog>
      )}
    </>
  )
}
