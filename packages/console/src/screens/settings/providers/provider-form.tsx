import type { ProviderKind } from '@stet/contract/vocabulary'
import type { ProviderKeyInfo } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure, issueOf } from '../../../app/failure.tsx'
import { stet } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { SelectField, TextField } from '../../../ui/field.tsx'
import { say } from '../../../ui/toast.tsx'
import css from '../settings.module.css'

/** The names of the provider types. A new type of the contract does not compile until it has a name here. */
const kinds: Record<ProviderKind, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  azure: 'Azure OpenAI',
  amazon_bedrock: 'Amazon Bedrock',
  google_vertex: 'Google Vertex',
  anthropic_vertex: 'Anthropic on Vertex',
  mistral: 'Mistral',
  groq: 'Groq',
  xai: 'xAI',
  deepseek: 'DeepSeek',
  perplexity: 'Perplexity',
  custom: 'OpenAI-compatible API',
}

interface Values {
  kind: string
  name: string
  token: string
  url: string
  defaultModel: string
}

/** Adds a provider, or changes a stored one. The stored token is never shown; an empty field keeps it. */
export function ProviderDialog({ provider, onClose }: { provider?: ProviderKeyInfo; onClose: () => void }) {
  const queries = useQueryClient()
  const [values, setValues] = useState<Values>({
    kind: provider?.provider ?? 'openai',
    name: provider?.name ?? 'openai',
    token: '',
    url: provider?.url ?? '',
    defaultModel: provider?.defaultModel ?? '',
  })
  const save = useMutation({
    mutationFn: () => store(values, provider),
    onSuccess: async (saved) => {
      await queries.invalidateQueries()
      say(provider ? `${saved.name} is changed` : `${saved.name} is added`)
      onClose()
    },
  })
  const missing = missingIn(values, provider)
  const isAtField = ['name', 'token', 'url', 'defaultModel'].some((field) => issueOf(save.error, field))
  return (
    <FormDialog
      title={provider ? `Edit “${provider.name}”` : 'Add a provider'}
      submit={provider ? 'Save' : 'Add'}
      busy={save.isPending}
      missing={missing}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <ProviderFields
        values={values}
        isNew={!provider}
        onChange={(changed) => setValues({ ...values, ...changed })}
        problemOf={(field) => issueOf(save.error, field)}
      />
      {save.error && !isAtField && <Failure what="Nothing was saved" error={save.error} />}
    </FormDialog>
  )
}

interface FieldsProps {
  values: Values
  isNew: boolean
  onChange: (changed: Partial<Values>) => void
  problemOf: (field: string) => string | undefined
}

function ProviderFields({ values, isNew, onChange, problemOf }: FieldsProps) {
  const isCustom = values.kind === 'custom'
  const bind = (field: keyof Values) => ({
    value: values[field],
    problem: problemOf(field),
    onChange: ({ target }: { target: { value: string } }) => onChange({ [field]: target.value }),
  })
  return (
    <>
      <div className={css['pair']}>
        {isNew && (
          <SelectField
            label="Type"
            value={values.kind}
            onChange={({ target: { value: kind } }) =>
              // The usual name of a provider is its type, until the user has typed another one.
              onChange({ kind, ...((values.name === values.kind || !values.name) && { name: kind }) })
            }
          >
            {Object.entries(kinds).map(([kind, text]) => (
              <option key={kind} value={kind}>
                {text}
              </option>
            ))}
          </SelectField>
        )}
        <TextField label="Name" note="as prompts write it" {...bind('name')} />
      </div>
      <TextField
        label="Key"
        note={!isNew && 'leave it empty to keep the stored one'}
        type="password"
        mono
        {...bind('token')}
      />
      <TextField
        label="Address"
        note={!isCustom && 'optional'}
        hint={isCustom && 'The base address of the API.'}
        type="url"
        {...bind('url')}
      />
      <TextField
        label="Default model"
        note="optional"
        hint="For prompts that name this provider but no model."
        {...bind('defaultModel')}
      />
    </>
  )
}

function missingIn({ kind, name, token, url }: Values, stored: ProviderKeyInfo | undefined): string | false {
  if (!name.trim()) return 'needs a name'
  if (!stored && !token) return 'needs a key'
  if (stored?.url && !url) return 'an address can be changed, but not removed'
  return kind === 'custom' && !url && 'needs an address'
}

function store({ kind, name, token, url, defaultModel }: Values, stored: ProviderKeyInfo | undefined) {
  const given = { name, ...(token && { token }), ...(url && { url }) }
  if (stored) return stet.providerKeys.update(stored.id, { ...given, defaultModel })
  return stet.providerKeys.create({ ...given, token, provider: kind, ...(defaultModel && { defaultModel }) })
}
