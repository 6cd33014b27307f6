import type { ProviderKind } from '@stet/contract/vocabulary'
import type { ProviderKeyInfo } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { issueOf, messageOf } from '../../../app/failure.tsx'
import { ModelField, useProviderForm } from '../../../app/frame/dialogs/provider-form.tsx'
import { stet } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { Notice } from '../../../ui/states.tsx'
import { durationText } from '../../../ui/time.tsx'
import { say } from '../../../ui/toast.tsx'
import { providerKeysQuery } from '../queries.ts'

/** Adds a provider, or changes a stored one. */
export function ProviderDialog({ provider, onClose }: { provider?: ProviderKeyInfo; onClose: () => void }) {
  const form = useProviderForm({
    provider,
    onSaved({ name }) {
      say(provider ? `${name} is changed` : `${name} is added`)
      onClose()
    },
  })
  return (
    <FormDialog
      title={provider ? `Edit “${provider.name}”` : 'Add a provider'}
      submit={provider ? 'Save' : 'Add'}
      busy={form.isBusy}
      missing={form.missing}
      onSubmit={form.save}
      onClose={onClose}
    >
      {form.fields}
    </FormDialog>
  )
}

/** One real call of a provider with a model, and what came back. */
export function TestDialog({ provider, onClose }: { provider: ProviderKeyInfo; onClose: () => void }) {
  const { name, defaultModel } = provider
  const queries = useQueryClient()
  const [model, setModel] = useState(defaultModel ?? '')
  const test = useMutation({
    mutationFn: () => stet.providerKeys.test({ name, ...(model.trim() && { model: model.trim() }) }),
    onSettled: () => queries.invalidateQueries({ queryKey: providerKeysQuery.queryKey }),
  })
  const { data, error } = test
  const atModel = issueOf(error, 'model')
  const problem = error ? !atModel && messageOf(error) : data?.error?.message
  return (
    <FormDialog
      title={`Test “${name}”`}
      text="One call of at most 16 tokens, for which the provider may charge."
      submit="Test"
      busy={test.isPending}
      onSubmit={() => test.mutate()}
      onClose={onClose}
    >
      <ModelField
        label="Model"
        note={!defaultModel && 'leave it empty for the server’s default'}
        kind={provider.provider as ProviderKind}
        value={model}
        problem={atModel}
        onChange={({ target }) => setModel(target.value)}
      />
      {data?.ok && (
        <Notice tone="blue">
          {data.model} answered in {durationText(data.durationMs)}.
        </Notice>
      )}
      {problem && (
        <Notice tone="red" urgent>
          {problem}
        </Notice>
      )}
    </FormDialog>
  )
}
