import { ApiError, type Example } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Failure, messageOf } from '../../app/failure.tsx'
import { examplesQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { Button, join } from '../../ui/button.tsx'
import { selectClass, TextField } from '../../ui/field.tsx'
import layout from '../../ui/styles/layout.module.css'
import { counted } from '../../ui/time.tsx'
import { exampleValues } from './example-values.ts'
import { draftsOf, type Parsed, type PromptInput, valuesOf } from './input-value.ts'
import css from './inputs.module.css'

interface ExamplesProps {
  projectId: number
  documentUuid: string
  /** The uuid in the page's address. */
  chosen: string | undefined
  /** The uuid of the example that the inputs come from. */
  filled: string | undefined
  fields: readonly PromptInput[]
  typed: Parsed
  /** Why examples cannot be written, for example `your key lacks “write”`. */
  blocked: string | false
  /** Fills the fields with the chosen example's values. */
  onFill: (example: Example) => void
  onChoose: (uuid: string | undefined) => void
  /** The inputs now belong to this example, or to none. */
  onBelong: (uuid: string | undefined) => void
}

/** Chooses among the named examples of a prompt, and saves the inputs as one. The tab Examples has all their fields. */
export function Examples(props: ExamplesProps) {
  const { projectId, documentUuid, chosen, filled, fields, typed } = props
  const { blocked, onFill, onChoose, onBelong } = props
  const examples = useQuery(examplesQuery(projectId, documentUuid))
  const [isNaming, setNaming] = useState(false)
  const list = examples.data ?? []
  const current = list.find(({ uuid }) => uuid === chosen)
  const saved = useMemo(
    () => (current ? valuesOf(fields, draftsOf(fields, current.parameters)).parameters : {}),
    [fields, current],
  )
  const { isChanged, values, problem } = useMemo(() => exampleValues(current, saved, typed), [current, saved, typed])
  const change = useExampleChanges({ projectId, documentUuid, ...values, onBelong })
  // The address changes a moment after the inputs were given to another example. Only a new choice fills the fields.
  const noticed = useRef<string>(undefined)
  useEffect(() => {
    if (current ? current.uuid === noticed.current : chosen) return
    noticed.current = current?.uuid
    if (current && current.uuid !== filled) onFill(current)
  }, [current, chosen, filled, onFill])

  const update = () => current && change.update(current.uuid)
  return (
    <div className={layout['stack']} data-keeps-focus="select">
      <div className={layout['row']}>
        <ExampleChoice {...{ list, current, onChoose, onBelong }} />
        {isChanged && (
          <Button blocked={blocked || problem} busy={change.isPending} onClick={update}>
            Update
          </Button>
        )}
        <Button look={isChanged ? 'quiet' : 'plain'} blocked={blocked} onClick={() => setNaming(true)}>
          {current ? 'Save as another' : 'Save'}
        </Button>
      </div>
      {current && current.messages.length > 0 && (
        <p className={layout['faint']}>A run also sends the example's {counted(current.messages.length, 'message')}.</p>
      )}
      {isChanged && problem && <p className={layout['faint']}>{problem}</p>}
      {change.error && <Failure error={change.error} what="The example was not updated" onRetry={update} />}
      {isNaming && (
        <NameForm
          problem={problem}
          onSave={(name) => change.create(name).then(() => setNaming(false))}
          onCancel={() => setNaming(false)}
        />
      )}
    </div>
  )
}

interface ExampleChoiceProps extends Pick<ExamplesProps, 'onChoose' | 'onBelong'> {
  list: readonly Example[]
  current: Example | undefined
}

function ExampleChoice({ list, current, onChoose, onBelong }: ExampleChoiceProps) {
  return (
    <select
      className={join(selectClass, css['choice'])}
      aria-label="Example"
      value={current?.uuid ?? ''}
      onChange={({ target }) => (target.value ? onChoose(target.value) : onBelong(undefined))}
    >
      <option value="">{list.length > 0 ? 'No example' : 'No examples yet'}</option>
      {list.map(({ uuid, name }) => (
        <option key={uuid} value={uuid}>
          {name}
        </option>
      ))}
    </select>
  )
}

function useExampleChanges({
  projectId,
  documentUuid,
  parameters,
  messages,
  onBelong,
}: Pick<ExamplesProps, 'projectId' | 'documentUuid' | 'onBelong'> & Pick<Example, 'parameters' | 'messages'>) {
  const client = useQueryClient()
  const reload = () => client.invalidateQueries(examplesQuery(projectId, documentUuid))
  const { mutate, isPending, error } = useMutation({
    mutationFn: (uuid: string) => Promise.resolve(stet.examples.update(uuid, { parameters }, { projectId })),
    onSuccess: reload,
  })
  return {
    update: mutate,
    isPending,
    error,
    async create(name: string) {
      const made = await stet.examples.create({ documentUuid, name, parameters, messages }, { projectId })
      await reload()
      onBelong(made.uuid)
    },
  }
}

interface NameFormProps {
  problem: string | null
  onSave: (name: string) => Promise<void>
  onCancel: () => void
}

function NameForm({ problem, onSave, onCancel }: NameFormProps) {
  const [name, setName] = useState('')
  const save = useMutation({ mutationFn: onSave })
  const isTaken = save.error instanceof ApiError && save.error.reason === 'example-name-taken'
  return (
    <form
      className={join(layout['stack'], css['form'])}
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() && !problem && !save.isPending) save.mutate(name.trim())
      }}
    >
      <TextField
        label="Name of the example"
        autoFocus
        maxLength={256}
        value={name}
        problem={problem ?? (isTaken ? 'Another example has this name.' : save.error && messageOf(save.error))}
        onChange={(event) => {
          setName(event.target.value)
          save.reset()
        }}
        onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      />
      <div className={layout['row']}>
        <Button type="submit" busy={save.isPending} blocked={name.trim() ? problem : 'it needs a name'}>
          Save the example
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
