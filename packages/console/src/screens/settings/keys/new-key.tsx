import type { CreateApiKeyBody, KeyPlan } from '@stet/contract/vocabulary'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../../app/failure.tsx'
import { projectsQuery } from '../../../app/queries.ts'
import { scopesOf } from '../../../app/roles.ts'
import { stet } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { SelectField, TextField } from '../../../ui/field.tsx'
import { issueOf } from '../issue-of.ts'
import { keysQuery } from '../queries.ts'
import { RoleField } from '../role-field.tsx'
import css from '../settings.module.css'
import { SecretDialog } from './secret.tsx'

const plans: readonly { plan: KeyPlan; text: string }[] = [
  { plan: 'hobby', text: 'Hobby, 10 requests per second' },
  { plan: 'team', text: 'Team, 166 requests per second' },
  { plan: 'enterprise', text: 'Enterprise, 500 requests per second' },
]
const days = [30, 90, 365]

/** Creates a key and shows its secret once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const { data: projects = [] } = useQuery(projectsQuery)
  const [name, setName] = useState('')
  const [role, setRole] = useState('Publisher')
  const [project, setProject] = useState('')
  const [plan, setPlan] = useState<KeyPlan>('team')
  const [expiry, setExpiry] = useState('')
  const create = useMutation({
    mutationFn: (body: CreateApiKeyBody) => stet.apiKeys.create(body),
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  })
  const restricted = { ...(project && { projectId: Number(project) }), ...(expiry && { expiresAt: inDays(expiry) }) }
  const submit = () => create.mutate({ name, scopes: scopesOf(role), plan, ...restricted })
  if (create.data) return <SecretDialog name={create.data.name} secret={create.data.key} onClose={onClose} />
  const issue = issueOf(create.error, 'name')
  return (
    <FormDialog
      title="New key"
      submit="Create"
      busy={create.isPending}
      missing={!name.trim() && 'needs a name'}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What uses it, for example “website” or “ci”."
        value={name}
        problem={issue}
        onChange={({ target }) => setName(target.value)}
      />
      <RoleField value={role} onChange={setRole} />
      <div className={css['pair']}>
        <SelectField label="Project" value={project} onChange={({ target }) => setProject(target.value)}>
          <option value="">All projects</option>
          {projects.map(({ id, name: title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </SelectField>
        <SelectField label="Expires" value={expiry} onChange={({ target }) => setExpiry(target.value)}>
          <option value="">Never</option>
          {days.map((count) => (
            <option key={count} value={count}>
              In {count} days
            </option>
          ))}
        </SelectField>
        <SelectField label="Plan" value={plan} onChange={({ target }) => setPlan(target.value as KeyPlan)}>
          {plans.map(({ plan: value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </SelectField>
      </div>
      {create.error && !issue && <Failure what="No key was created" error={create.error} />}
    </FormDialog>
  )
}

function inDays(count: string): string {
  return new Date(Date.now() + Number(count) * 86_400_000).toISOString()
}
