import type { ProviderKind } from '@stet/contract/vocabulary'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { messageOf } from '../../app/failure.tsx'
import { modelsQuery, providersQuery } from '../../app/queries.ts'
import { stet, useBlocked } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { costText, durationText } from '../../ui/time.tsx'
import css from './home.module.css'

const choices: { provider: ProviderKind; name: string }[] = [
  { provider: 'openai', name: 'OpenAI' },
  { provider: 'anthropic', name: 'Anthropic' },
  { provider: 'google', name: 'Google' },
]

type FormState =
  | { kind: 'idle' | 'busy' }
  | { kind: 'refused'; field: 'model' | 'key'; problem: string }
  /** The provider answered a short call with the stored key. */
  | { kind: 'answered'; model: string; durationMs: number }

/** Stores the key of a provider if a short call with it succeeds. Without a key, the demo provider answers. */
export function ProviderKeyForm() {
  const [choice, setChoice] = useState(choices[0] as (typeof choices)[number])
  const [model, setModel] = useState('')
  const [token, setToken] = useState('')
  const [state, setState] = useState<FormState>({ kind: 'idle' })
  const queries = useQueryClient()
  const needsAdmin = useBlocked('admin')
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (state.kind === 'busy' || needsAdmin) return
    const defaultModel = model.trim()
    if (!defaultModel) return setState({ kind: 'refused', field: 'model', problem: 'Choose a model first' })
    if (!token.trim()) return setState({ kind: 'refused', field: 'key', problem: 'Paste a key first' })
    setState({ kind: 'busy' })
    try {
      const { provider } = choice
      const { id } = await stet.providerKeys.create({ name: provider, provider, token: token.trim(), defaultModel })
      const { error, ...answer } = await stet.providerKeys.test({ name: provider })
      // With a key that does not work, every run would fail. Without one, the demo provider answers.
      if (error) await stet.providerKeys.delete(id)
      await queries.invalidateQueries({ queryKey: providersQuery.queryKey })
      if (error) return setState({ kind: 'refused', field: 'key', problem: error.message })
      setToken('')
      setState({ kind: 'answered', ...answer })
    } catch (error) {
      setState({ kind: 'refused', field: 'key', problem: messageOf(error) })
    }
  }
  if (state.kind === 'answered') {
    return (
      <Notice tone="blue">
        {choice.name} answers from now on ({state.model}, {durationText(state.durationMs)}).
      </Notice>
    )
  }
  const problemAt = (field: 'model' | 'key') => state.kind === 'refused' && state.field === field && state.problem
  return (
    <form className={css['form']} onSubmit={save} noValidate>
      <p className={css['quiet']}>
        Without a key, stet’s demo provider answers. It is not a model, and it costs nothing. You can add a key now or
        later.
      </p>
      <SelectField
        label="Provider"
        value={choice.provider}
        onChange={(event) => {
          const next = choices.find(({ provider }) => provider === event.target.value) ?? choice
          setChoice(next)
          setModel('')
        }}
      >
        {choices.map(({ provider, name }) => (
          <option key={provider} value={provider}>
            {name}
          </option>
        ))}
      </SelectField>
      <ModelField
        provider={choice.provider}
        value={model}
        problem={problemAt('model')}
        onChange={(next) => setModel(next)}
      />
      <TextField
        label="Key"
        mono
        type="password"
        value={token}
        problem={problemAt('key')}
        onChange={(event) => setToken(event.target.value)}
      />
      <div>
        <Button type="submit" busy={state.kind === 'busy'} blocked={needsAdmin}>
          Save and test
        </Button>
      </div>
    </form>
  )
}

interface ModelFieldProps {
  provider: ProviderKind
  value: string
  problem: string | false
  onChange: (model: string) => void
}

/** Proposes the models whose prices the server knows. A newer one can be typed. */
function ModelField({ provider, value, problem, onChange }: ModelFieldProps) {
  const { data } = useQuery(modelsQuery(provider))
  const list = useId()
  return (
    <>
      <TextField
        label="Model"
        mono
        value={value}
        problem={problem}
        list={list}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {data?.map(({ id, inputPrice, outputPrice }) => (
          <option key={id} value={id}>
            {`${costText(inputPrice)} in, ${costText(outputPrice)} out, per million tokens`}
          </option>
        ))}
      </datalist>
    </>
  )
}
