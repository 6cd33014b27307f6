import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Failure, issueOf } from '../../../app/failure.tsx'
import { scopesOf } from '../../../app/roles.ts'
import { stet } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'
import { RoleField } from '../parts.tsx'
import { keysQuery } from '../queries.ts'
import { makeLink, SignInLinkDialog } from './sign-in-link.tsx'

/** Makes a key for a person and a link that signs them in. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('Editor')
  const key = useRef<{ made: string; id: number } | null>(null)
  const invite = useMutation({
    mutationFn: async () => {
      const author = { name: name.trim(), email: email.trim() }
      const body = { name: `console of ${author.name}`, scopes: scopesOf(role), author }
      // If only the link failed, the next attempt uses the same key.
      const made = JSON.stringify(body)
      if (key.current?.made !== made) key.current = { made, id: (await stet.apiKeys.create(body)).id }
      return makeLink({ apiKeyId: key.current.id, name: author.name })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  })
  if (invite.data) return <SignInLinkDialog {...invite.data} onClose={onClose} />
  const missing = !name.trim() ? 'needs a name' : !email.trim() && 'needs an email address'
  const problems = { name: issueOf(invite.error, 'name'), email: issueOf(invite.error, 'email') }
  return (
    <FormDialog
      title="Invite a person"
      text="stet sends no email: you get a link to pass on."
      submit="Make a link"
      busy={invite.isPending}
      missing={missing}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" value={name} problem={problems.name} onChange={({ target }) => setName(target.value)} />
      <TextField
        label="Email"
        type="email"
        hint="Identifies the person. Reuse the address to add a key for the same person."
        value={email}
        problem={problems.email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <RoleField value={role} onChange={setRole} />
      {invite.error && !problems.name && !problems.email && (
        <Failure what="The person was not invited" error={invite.error} />
      )}
    </FormDialog>
  )
}
