import type { CreateApiKeyBody, KeyPlan } from '@stet/contract/vocabulary'
import type { KeyScope } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure, issueOf } from '../../../app/failure.tsx'
import { usePreferences } from '../../../app/preferences.ts'
import { projectsQuery } from '../../../app/queries.ts'
import { scopesOf } from '../../../app/roles.ts'
import { stet, useSession } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { CheckField, ChoiceField, TextField } from '../../../ui/field.tsx'
import { RoleField, SecretDialog } from '../parts.tsx'
import { keysQuery } from '../queries.ts'
import css from '../settings.module.css'

const plans: readonly (readonly [KeyPlan, string])[] = [
  ['hobby', '10 requests per second'],
  ['team', '166 requests per second'],
  ['enterprise', '500 requests per second'],
]
const expiries = [['', 'Never'] as const, ...['30', '90', '365'].map((days) => [days, `In ${days} days`] as const)]

interface Purpose {
  text: string
  scopes: readonly KeyScope[]
  /** The user's choice instead of `scopes`. */
  choice?: 'role' | 'scopes'
  isForOneProject?: boolean
  /** Days until it expires; empty for never. */
  expiry: string
}

/** Each starts with the fewest rights that serve it. */
const purposes = {
  application: { text: 'An application that runs prompts', scopes: ['run'], isForOneProject: true, expiry: '90' },
  ci: { text: 'CI', scopes: ['read', 'write', 'publish'], isForOneProject: true, expiry: '' },
  person: { text: 'A person', scopes: [], choice: 'role', expiry: '' },
  custom: { text: 'Custom', scopes: [], choice: 'scopes', expiry: '90' },
} as const satisfies Record<string, Purpose>

type PurposeName = keyof typeof purposes
const purposeChoices = Object.entries(purposes).map(([name, { text }]) => [name as PurposeName, text] as const)

/** Creates a key and shows its secret once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const { data: projects = [], isSuccess: hasProjects } = useQuery(projectsQuery)
  const { id: authorId } = useSession().apiKey.author
  const last = usePreferences().places[authorId]?.project
  const [name, setName] = useState('')
  const [purposeName, setPurpose] = useState<PurposeName>('application')
  const purpose: Purpose = purposes[purposeName]
  const [role, setRole] = useState('Editor')
  const [chosen, setChosen] = useState<readonly KeyScope[]>(['read'])
  // Undefined until the user has chosen something else than the purpose proposes.
  const [typed, setTyped] = useState<{ project?: string; expiry?: string }>({})
  const [plan, setPlan] = useState<KeyPlan>('team')
  const create = useMutation({
    mutationFn: (body: CreateApiKeyBody) => stet.apiKeys.create(body),
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  })
  const proposed = projects.find(({ id }) => String(id) === last) ?? projects[0]
  const project = typed.project ?? (purpose.isForOneProject && proposed ? String(proposed.id) : '')
  // Before the projects have loaded, the form would create a key for all of them.
  const isWaiting = purpose.isForOneProject && typed.project === undefined && !hasProjects
  const expiry = typed.expiry ?? purpose.expiry
  const scopes = purpose.choice === 'role' ? scopesOf(role) : purpose.choice ? chosen : purpose.scopes
  const restricted = { ...(project && { projectId: Number(project) }), ...(expiry && { expiresAt: inDays(expiry) }) }
  const submit = () => create.mutate({ name, scopes: [...scopes], plan, ...restricted })
  if (create.data) return <SecretDialog name={create.data.name} secret={create.data.key} onClose={onClose} />
  const issue = issueOf(create.error, 'name')
  return (
    <FormDialog
      title="New key"
      submit="Create"
      busy={create.isPending}
      missing={
        !name.trim()
          ? 'needs a name'
          : isWaiting
            ? 'wait for the list of projects'
            : scopes.length === 0 && 'needs a scope'
      }
      onSubmit={submit}
      onClose={onClose}
    >
      <ChoiceField
        label="For"
        note={purpose.scopes.join(', ')}
        value={purposeName}
        choices={purposeChoices}
        onChange={(name) => {
          setPurpose(name)
          setTyped({})
        }}
      />
      <TextField
        label="Name"
        hint="The application that uses it, for example “website” or “ci”."
        value={name}
        problem={issue}
        onChange={({ target }) => setName(target.value)}
      />
      {purpose.choice === 'role' && <RoleField value={role} onChange={setRole} />}
      {purpose.choice === 'scopes' && <ScopesField value={chosen} onChange={setChosen} />}
      <div className={css['pair']}>
        <ChoiceField
          label="Project"
          value={project}
          choices={[['', 'All projects'], ...projects.map(({ id, name }) => [String(id), name] as const)]}
          onChange={(project) => setTyped({ ...typed, project })}
        />
        <ChoiceField
          label="Expires"
          value={expiry}
          choices={expiries}
          onChange={(expiry) => setTyped({ ...typed, expiry })}
        />
        <ChoiceField label="Plan" value={plan} choices={plans} onChange={setPlan} />
      </div>
      {create.error && !issue && <Failure what="No key was created" error={create.error} />}
    </FormDialog>
  )
}

interface ScopesProps {
  value: readonly KeyScope[]
  onChange: (scopes: readonly KeyScope[]) => void
}

function ScopesField({ value, onChange }: ScopesProps) {
  return (
    <fieldset className={css['choices']} aria-label="Scopes">
      {scopesOf('Admin').map((scope) => (
        <CheckField
          key={scope}
          label={scope}
          checked={value.includes(scope)}
          onChange={({ target }) => onChange(target.checked ? [...value, scope] : value.filter((one) => one !== scope))}
        />
      ))}
    </fieldset>
  )
}

function inDays(count: string): string {
  return new Date(Date.now() + Number(count) * 86_400_000).toISOString()
}
