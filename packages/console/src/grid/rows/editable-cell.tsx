import type { Example } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { Failure, messageOf } from '../../app/failure.tsx'
import { isMissing, noticeSignedOut, stet } from '../../app/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextAreaField } from '../../ui/field.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import { say } from '../../ui/toast.tsx'
import css from '../grid.module.css'
import { reloadScored } from '../queries.ts'
import { oneLine } from './answer-texts.ts'
import { checkIn, formOf } from './check-form.ts'
import { ChecksFields } from './checks-fields.tsx'
import type { RowField, RowValues } from './row-fields.ts'

interface EditableCellProps {
  projectId: number
  row: Example
  field: RowField
  blocked: string | false
  /** In place of the value's one line. */
  children?: ReactNode
}

/** A field of an example. A click or ⏎ opens it where it is, ⏎ saves it, and Escape leaves it as it was. */
export function EditableCell({ projectId, row, field, blocked, children }: EditableCellProps) {
  const [isOpen, setOpen] = useState(false)
  const change = useRowChange(projectId)
  const hasDialog = field.name === 'checks'
  const close = () => {
    if (change.error) change.reset()
    setOpen(false)
  }
  if (isOpen && !hasDialog) return <FieldForm {...{ row, field, change }} onClose={close} />
  const short = field.shortOf?.(row) ?? oneLine(field.textOf(row))
  return (
    <>
      <button
        type="button"
        className={css['value']}
        data-empty={short === '' || undefined}
        {...(field.name === 'name' && { 'data-row': true })}
        aria-disabled={blocked ? true : undefined}
        title={blocked || undefined}
        aria-label={`Edit the ${field.label.toLowerCase()} of ${row.name}: ${short || 'add'}`}
        onClick={() => !blocked && setOpen(true)}
      >
        {children || withSigns(short) || 'add'}
      </button>
      {isOpen && <ChecksDialog {...{ row, field, change }} onClose={close} />}
    </>
  )
}

/** The checks of a row. */
function ChecksDialog({ row, field, change, onClose }: FieldFormProps) {
  const [forms, setForms] = useState(() => row.checks.map(formOf))
  const [problem, setProblem] = useState<unknown>(null)
  const save = () => {
    try {
      const text = JSON.stringify(forms.map(checkIn))
      if (text === field.textOf(row)) onClose()
      else change.mutate({ row, field, text }, { onSuccess: onClose })
    } catch (error) {
      setProblem(error)
    }
  }
  const error = problem ?? change.error
  return (
    <FormDialog
      title={`Checks of ${row.name}`}
      text="An answer passes if all checks pass. Without checks, it is compared with what the row expects."
      wide
      submit="Save"
      busy={change.isPending}
      onSubmit={save}
      onClose={onClose}
    >
      <ChecksFields
        forms={forms}
        onChange={(next) => {
          setForms(next)
          setProblem(null)
          change.reset()
        }}
      />
      {error && <Failure error={error} what="The checks were not saved" />}
    </FormDialog>
  )
}

interface FieldFormProps {
  row: RowValues & { uuid: string }
  field: RowField
  change: ReturnType<typeof useRowChange>
  onClose: () => void
}

/** The text of a field. What cannot be saved stays open, with the reason. */
export function FieldForm({ row, field, change, onClose }: FieldFormProps) {
  const [text, setText] = useState(() => field.textOf(row))
  const close = () =>
    text === field.textOf(row) ? onClose() : change.mutate({ row, field, text }, { onSuccess: onClose })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.shiftKey || !['Escape', 'Enter'].includes(event.key)) return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Enter') close()
    else onClose()
  }
  return (
    <div className={css['form']}>
      <TextAreaField
        label={`${field.label} of ${row.name}`}
        mono={field.isMono ?? false}
        autoFocus
        value={text}
        hint={field.hint}
        problem={change.error && messageOf(change.error)}
        onChange={({ target }) => {
          setText(target.value)
          change.reset()
        }}
        onKeyDown={onKeyDown}
        onBlur={() => !change.error && close()}
      />
    </div>
  )
}

/** Takes a change back, once: later, it would overwrite what others have written since. */
export interface Undo {
  /** It was taken back, or never can be. */
  isOver: boolean
  run: () => Promise<void>
}

/**
 * Saves one field of an example, which can be undone.
 *
 * @param onChange shows the change at once
 */
export function useRowChange(projectId: number, onChange?: (uuid: string, values: RowValues, undo?: Undo) => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ row, field, text }: { row: FieldFormProps['row']; field: RowField; text: string }) => {
      const send = async (change: ReturnType<RowField['changeOf']>, undo?: Undo) => {
        await stet.examples.update(row.uuid, change, { projectId })
        onChange?.(row.uuid, { ...row, ...change } as RowValues, undo)
        await Promise.all([
          client.invalidateQueries({ queryKey: ['project', projectId, 'examples'] }),
          ('expected' in change || 'checks' in change) && reloadScored(client, projectId),
        ])
      }
      const before = field.changeOf(field.textOf(row))
      const what = `the ${field.label.toLowerCase()} of ${row.name}`
      const undo: Undo = {
        isOver: false,
        async run() {
          if (undo.isOver) return
          undo.isOver = true
          try {
            await send(before)
          } catch (error) {
            noticeSignedOut(error)
            undo.isOver = isMissing(error)
            // The cell may be gone by now.
            const again = { label: 'Try again', onSelect: () => void undo.run() }
            say(`Could not restore ${what}. ${messageOf(error)}`, undo.isOver ? undefined : again)
          }
        },
      }
      await send(field.changeOf(text), undo)
      say(`Saved ${what}`, { label: 'Undo', onSelect: () => void undo.run() })
    },
  })
}
