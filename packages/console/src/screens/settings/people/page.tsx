import type { ApiKeyInfo } from '@stet/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../../app/failure.tsx'
import { roleOf } from '../../../app/roles.ts'
import { Button } from '../../../ui/button.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Table } from '../../../ui/table.tsx'
import { counted, Time } from '../../../ui/time.tsx'
import { ListPage } from '../parts.tsx'
import { keysQuery } from '../queries.ts'
import css from '../settings.module.css'
import { InviteDialog } from './invite.tsx'
import { makeLink, SignInLinkDialog } from './sign-in-link.tsx'

interface Person {
  author: ApiKeyInfo['author']
  /** The keys that work, newest first. */
  keys: ApiKeyInfo[]
}

export default function PeoplePage() {
  const list = useQuery(keysQuery)
  const { data } = list
  const [inviting, setInviting] = useState(false)
  const link = useMutation({ mutationFn: makeLink })
  const people = peopleOf(data ?? [])
  return (
    <ListPage
      text="A person has a key of their own, so that drafts, versions and runs show who made them. They sign in with a link that works once."
      action={
        <Button look="primary" onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
      list={list}
      what="people"
    >
      {link.error && <Failure error={link.error} what="No link was made" />}
      {data && people.length === 0 && <Empty line="Invite the first person." />}
      {people.length > 0 && (
        <Table label="People" head={['Name', 'Email', 'Role', 'Last seen', '']}>
          {people.map(({ author, keys: [newest, ...others] }) => (
            <tr key={author.id}>
              <td className={css['name']}>{author.name}</td>
              <td>{author.email}</td>
              <td>
                {newest && roleOf(newest.scopes)}{' '}
                {others.length > 0 && <span className="faint">and {counted(others.length, 'more key')}</span>}
              </td>
              <td>{lastSeen([newest, ...others])}</td>
              <td>
                {newest && (
                  <Button
                    look="quiet"
                    busy={link.isPending && link.variables.apiKeyId === newest.id}
                    aria-label={`Sign-in link for ${author.name}`}
                    onClick={() => link.mutate({ apiKeyId: newest.id, name: author.name })}
                  >
                    Sign-in link
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
      {link.data && <SignInLinkDialog {...link.data} onClose={link.reset} />}
    </ListPage>
  )
}

/** Everybody with a key that works, in the order of their names. A program's key has no real address. */
function peopleOf(keys: readonly ApiKeyInfo[]): Person[] {
  const people = new Map<number, Person>()
  const now = new Date().toISOString()
  for (const key of keys) {
    if (key.author.email.endsWith('@localhost')) continue
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) continue
    const person = people.get(key.author.id) ?? { author: key.author, keys: [] }
    people.set(key.author.id, { ...person, keys: [...person.keys, key].sort((a, b) => b.id - a.id) })
  }
  return [...people.values()].sort((a, b) => a.author.name.localeCompare(b.author.name))
}

function lastSeen(keys: readonly (ApiKeyInfo | undefined)[]) {
  const latest = keys
    .flatMap((key) => key?.lastUsedAt ?? [])
    .sort()
    .at(-1)
  return latest ? <Time at={latest} /> : 'never'
}
