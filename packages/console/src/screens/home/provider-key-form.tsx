import type { ProviderKind } from '@stet/contract/vocabulary'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { messageOf } from '../../app/failure.tsx'
import { providersQuery } from '../../app/queries.ts'
import { stet, useBlocked } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { durationText } from '../../ui/time.tsx'
import css from './home.module.css'

const choices: { provider: ProviderKind; name: string; model: string }[] = [
  { provider: 'openai', name: 'OpenAI', model: 'gpt-4o-mini' },
  { provider: 'anthropic', name: 'Anthropic', model: 'claude-sonnet-4-5' },
  { provider: 'google', name: 'Google', model: 'gemini-2.5-flash' },
]

type FormState =
  | { kind: 'idle' | 'busy' }
  | { kind: 'refused'; problem: string }
  /** The provider answered a short call with the stored key. */
  | { kind: 'answered'; model: string; durationMs: number }

/** Stores the key of a provider if a short call with it succeeds. Without a key, the demo provider answers. */
export function ProviderKeyForm() {
  const [choice, setChoice] = useState(choices[0] as (typeof choices)[number])
  const [model, setModel] = useState(choice.model)
  const [token, setToken] = useState('')
  const [state, setState] = useState<FormState>({ kind: 'idle' })
  const queries = useQueryClient()
  const needsAdmin = useBlocked('admin')
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (state.kind === 'busy' || needsAdmin) return
    if (!token.trim()) return setState({ kind: 'refused', problem: 'Paste a key first' })
    setState({ kind: 'busy' })
    try {
      const { provider } = choice
      const defaultModel = model.trim()
      const { id } = await stet.providerKeys.create({ name: provider, provider, token: token.trim(), defaultModel })
      const { error, ...answer } = await stet.providerKeys.test({ name: provider })
      // With a key that does not work, every run would fail. Without one, the demo provider answers.
      if (error) await stet.providerKeys.delete(id)
      await queries.invalidateQueries({ queryKey: providersQuery.queryKey })
      if (error) return setState({ kind: 'refused', problem: error.message })
      setToken('')
      setState({ kind: 'answered', ...answer })
    } catch (error) {
      setState({ kind: 'refused', problem: messageOf(error) })
    }
  }
  if (state.kind === 'answered') {
    return (
      <Notice tone="blue">
        {choice.name} answers from now on ({state.model}, {durationText(state.durationMs)}).
      </Notice>
    )
  }
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
          setModel(next.model)
        }}
      >
        {choices.map(({ provider, name }) => (
          <option key={provider} value={provider}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField label="Model" mono value={model} onChange={(event) => setModel(event.target.value)} />
      <TextField
        label="Key"
        mono
        type="password"
        value={token}
        problem={state.kind === 'refused' && state.problem}
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
