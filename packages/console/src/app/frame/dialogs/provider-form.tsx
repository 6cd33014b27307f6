import type { ProviderKind } from '@stet/contract/vocabulary'
import type { ProviderKeyInfo, ProviderTest } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { ChoiceField, TextField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/states.tsx'
import { costText } from '../../../ui/time.tsx'
import { Failure, issueOf } from '../../failure.tsx'
import { modelsQuery } from '../../queries.ts'
import { stet } from '../../session.ts'

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
/** Those that need nothing but a key. */
const briefKinds: readonly ProviderKind[] = ['openai', 'anthropic', 'google']

interface Values {
  kind: ProviderKind
  name: string
  token: string
  url: string
  defaultModel: string
}

interface Stored extends Pick<ProviderKeyInfo, 'name'> {
  /** The result of a short call with the key. Only with `isBrief`. */
  test?: ProviderTest
}

interface ProviderFormOptions {
  /** The provider that is changed. Its token is never shown, and an empty field keeps it. */
  provider?: ProviderKeyInfo | undefined
  /**
   * Asks only for a key and a model, and keeps the key only if a short call with it succeeds. With a key that does not
   * work, every run would fail.
   */
  isBrief?: boolean
  onSaved: (stored: Stored) => void
}

interface ProviderForm {
  fields: ReactNode
  missing: string | false
  isBusy: boolean
  save: () => void
}

/** The form of a provider, for a dialog or a screen. */
export function useProviderForm({ provider, isBrief = false, onSaved }: ProviderFormOptions): ProviderForm {
  const queries = useQueryClient()
  const [values, setValues] = useState<Values>({
    kind: (provider?.provider as ProviderKind | undefined) ?? 'openai',
    name: provider?.name ?? 'openai',
    token: '',
    url: provider?.url ?? '',
    defaultModel: provider?.defaultModel ?? '',
  })
  const save = useMutation({
    mutationFn: () => (isBrief ? storeTested(values) : store(values, provider)),
    onSettled: () => queries.invalidateQueries(),
    onSuccess: (stored) => {
      if (!stored.test?.error) onSaved(stored)
    },
  })
  const isAtField = ['name', 'token', 'url', 'defaultModel'].some((field) => issueOf(save.error, field))
  const refused = save.data?.test?.error
  return {
    missing: missingIn(values, provider, isBrief),
    isBusy: save.isPending,
    save: () => save.mutate(),
    fields: (
      <>
        <ProviderFields
          values={values}
          isNew={!provider}
          isBrief={isBrief}
          onChange={(changed) => setValues({ ...values, ...changed })}
          problemOf={(field) => issueOf(save.error, field)}
        />
        {save.error && !isAtField && <Failure what="Nothing was saved" error={save.error} />}
        {refused && (
          <Notice tone="red" urgent>
            <strong>Nothing was saved.</strong> {refused.message}
          </Notice>
        )}
      </>
    ),
  }
}

interface FieldsProps {
  values: Values
  isNew: boolean
  isBrief: boolean
  onChange: (changed: Partial<Values>) => void
  problemOf: (field: string) => string | undefined
}

function ProviderFields({ values, isNew, isBrief, onChange, problemOf }: FieldsProps) {
  const isCustom = values.kind === 'custom'
  const bind = (field: keyof Values) => ({
    value: values[field],
    problem: problemOf(field),
    onChange: ({ target }: { target: { value: string } }) => onChange({ [field]: target.value }),
  })
  return (
    <>
      {isNew && (
        <ChoiceField
          label="Provider"
          value={values.kind}
          choices={(isBrief ? briefKinds : (Object.keys(kinds) as ProviderKind[])).map((kind) => [kind, kinds[kind]])}
          onChange={(kind) => {
            // The usual name of a provider is its type, until the user has typed another one.
            const name = values.name === values.kind || !values.name ? kind : values.name
            onChange({ kind, name, defaultModel: '' })
          }}
        />
      )}
      {!isBrief && <TextField label="Name" note="as prompts write it" {...bind('name')} />}
      <TextField
        label="Key"
        note={!isNew && 'leave it empty to keep the stored one'}
        type="password"
        mono
        {...bind('token')}
      />
      {!isBrief && (
        <TextField
          label="Address"
          note={!isCustom && 'optional'}
          hint={isCustom && 'The base address of the API.'}
          type="url"
          {...bind('url')}
        />
      )}
      <ModelField
        label="Default model"
        note={!isBrief && 'optional'}
        hint="For prompts that name this provider but no model."
        kind={values.kind}
        {...bind('defaultModel')}
      />
    </>
  )
}

interface ModelFieldProps extends Omit<Parameters<typeof TextField>[0], 'list'> {
  kind: ProviderKind
}

/** Proposes the models in the price table. A newer one can be typed. */
export function ModelField({ kind, ...field }: ModelFieldProps) {
  const { data } = useQuery(modelsQuery(kind))
  const list = useId()
  return (
    <>
      <TextField {...field} mono list={list} />
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

function missingIn(values: Values, stored: ProviderKeyInfo | undefined, isBrief: boolean): string | false {
  const { kind, name, token, url, defaultModel } = values
  if (!name.trim()) return 'needs a name'
  if (!stored && !token.trim()) return 'needs a key'
  if (isBrief) return !defaultModel.trim() && 'needs a model'
  if (stored?.url && !url) return 'an address can be changed, but not removed'
  return kind === 'custom' && !url && 'needs an address'
}

function store(values: Values, stored?: ProviderKeyInfo): Promise<Stored & Pick<ProviderKeyInfo, 'id'>> {
  const { kind, name, url, defaultModel } = values
  const token = values.token.trim()
  const given = { name, ...(token && { token }), ...(url && { url }) }
  if (stored) return stet.providerKeys.update(stored.id, { ...given, defaultModel })
  return stet.providerKeys.create({ ...given, token, provider: kind, ...(defaultModel && { defaultModel }) })
}

async function storeTested(values: Values): Promise<Stored> {
  const { id, name } = await store(values)
  const test = await stet.providerKeys.test({ name })
  if (test.error) await stet.providerKeys.delete(id)
  return { name, test }
}
