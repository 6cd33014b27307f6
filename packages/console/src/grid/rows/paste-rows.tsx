import type { Example } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { messageOf } from '../../app/failure.tsx'
import { examplesQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import type { PromptInput } from '../../runs/inputs/input-value.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Field, SelectField, TextAreaField } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { counted } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import css from '../grid.module.css'
import { inputsText, oneLine } from './answer-texts.ts'
import { checkedBefore, containing, type PastedRow, readPasted } from './paste.ts'

interface PasteRowsProps {
  projectId: number
  documentUuid: string
  inputs: readonly PromptInput[]
  /** Those that the prompt has already. */
  examples: readonly Example[]
  onClose: () => void
}

/** The most that one request takes. */
const atOnce = 200
const mostShown = 3
const mostProblems = 5

/** Adds rows from a spreadsheet. The preview shows what they become before anything is saved. */
export function PasteRows({ projectId, documentUuid, inputs, examples, onClose }: PasteRowsProps) {
  const [text, setText] = useState('')
  const [isContained, setContained] = useState(false)
  const taken = useMemo(() => examples.map(({ name }) => name), [examples])
  const { rows, problems, unknown } = useMemo(() => readPasted(text, inputs, taken), [text, inputs, taken])
  const replaced = useMemo(() => {
    const names = new Set(taken)
    return rows.filter(({ name }) => names.has(name)).length
  }, [rows, taken])
  const save = useBatch(projectId, documentUuid, onClose)
  const hasExpected = rows.some(({ expected }) => expected != null)
  const checked = useMemo(() => checkedBefore(rows, examples), [rows, examples])
  const compared = (row: PastedRow) => (checked.includes(row.name) ? row : containing(row))
  const columns = [...new Set(['name', 'expected', 'tags', ...inputs.map(({ name }) => name)])].join(', ')
  const isRefused = problems.length > 0 || rows.length === 0
  return (
    <FormDialog
      title="Import examples"
      text="Choose a file, or paste cells of a spreadsheet. The first line names the columns. A row with the name of an example replaces it."
      wide
      submit={!isRefused ? `Save ${counted(rows.length, 'row')}` : 'Save'}
      busy={save.isPending}
      missing={isRefused && (text ? 'correct the cells first' : 'paste cells first')}
      onSubmit={() => save.mutate(isContained ? rows.map(compared) : rows)}
      onClose={onClose}
    >
      <Field label="File" note="CSV or TSV">
        {(control) => (
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            {...control}
            onChange={async ({ target }) => {
              const file = target.files?.[0]
              if (!file) return
              setText(await file.text())
              save.reset()
            }}
          />
        )}
      </Field>
      <TextAreaField
        label="Cells"
        mono
        rows={6}
        value={text}
        hint={`Columns: ${columns}. Other columns become inputs, too.`}
        problem={save.error && messageOf(save.error)}
        onChange={({ target }) => {
          setText(target.value)
          save.reset()
        }}
      />
      {hasExpected && (
        <SelectField
          label="An answer passes if it"
          value={String(isContained)}
          hint="JSON objects are always compared as a whole. Checks of a row, rules and judges can compare in other ways."
          onChange={({ target }) => setContained(target.value === 'true')}
        >
          <option value="false">is equal to what is expected</option>
          <option value="true">contains what is expected</option>
        </SelectField>
      )}
      {text && problems.length > 0 && <Problems problems={problems} />}
      {!isRefused && unknown.length > 0 && <Notice>The prompt does not use {unknown.join(', ')}.</Notice>}
      {!isRefused && replaced > 0 && (
        <Notice tone="amber">{counted(replaced, 'example')} with the same name will be replaced.</Notice>
      )}
      {!isRefused && checked.length > 0 && (
        <Notice>These rows keep the checks of their examples: {checked.join(', ')}.</Notice>
      )}
      {!isRefused && <Preview rows={rows} />}
    </FormDialog>
  )
}

function Problems({ problems }: { problems: readonly string[] }) {
  return (
    <Notice tone="amber">
      <ul>
        {problems.slice(0, mostProblems).map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
      {problems.length > mostProblems && `And ${problems.length - mostProblems} more.`}
    </Notice>
  )
}

function Preview({ rows }: { rows: readonly PastedRow[] }) {
  return (
    <>
      <Table label="Preview" head={['Name', 'Inputs', 'Expected', 'Tags']}>
        {rows.slice(0, mostShown).map(({ name, parameters, expected, tags = [] }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{inputsText(parameters)}</td>
            <td>{oneLine(expected)}</td>
            <td>{tags.join(', ')}</td>
          </tr>
        ))}
      </Table>
      {rows.length > mostShown && <p className={css['quiet']}>And {counted(rows.length - mostShown, 'more row')}.</p>}
    </>
  )
}

/** Says how far it came if a later request fails. */
function useBatch(projectId: number, documentUuid: string, onSaved: () => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (rows: readonly PastedRow[]) => {
      const sum = { added: 0, modified: 0, unchanged: 0 }
      for (let from = 0; from < rows.length; from += atOnce) {
        const changes = rows.slice(from, from + atOnce)
        const done = await stet.examples.batch({ documentUuid, changes }, { projectId }).catch((error) => {
          throw from === 0 ? error : new Error(`${messageOf(error)} The first ${from} rows are saved.`)
        })
        sum.added += done.added
        sum.modified += done.modified
        sum.unchanged += done.unchanged
      }
      return sum
    },
    onSuccess: ({ added, modified, unchanged }) => {
      say(`${added} added, ${modified} changed, ${unchanged} as before`)
      onSaved()
    },
    onSettled: () => client.invalidateQueries(examplesQuery(projectId, documentUuid)),
  })
}
