import type { ApiKeyInfo } from '@stet/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { roleOf } from '../../../app/roles.ts'
import { stet } from '../../../app/session.ts'
import { Button } from '../../../ui/button.tsx'
import { Confirm } from '../../../ui/dialog.tsx'
import { Chip } from '../../../ui/mark.tsx'
import { Table } from '../../../ui/table.tsx'
import { Time } from '../../../ui/time.tsx'
import { say } from '../../../ui/toast.tsx'
import { ListPage } from '../parts.tsx'
import { keysQuery } from '../queries.ts'
import css from '../settings.module.css'
import { NewKeyDialog } from './new-key.tsx'
import { RotateDialog } from './rotate-key.tsx'

type Open = { kind: 'new' } | { kind: 'rotate' | 'revoke'; key: ApiKeyInfo } | null

export default function KeysPage() {
  const list = useQuery(keysQuery)
  const { data } = list
  const queries = useQueryClient()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const { active, ended } = split(data ?? [])
  return (
    <ListPage
      text="A key lets an application, a pipeline or a person use this server."
      action={
        <Button look="primary" onClick={() => setOpen({ kind: 'new' })}>
          New key
        </Button>
      }
      list={list}
      what="keys"
    >
      {data && (
        <Table label="Keys" head={['Name', 'Key', 'Role', 'Person', 'Last used', 'Expires', '']}>
          {[...active, ...ended].map((key) => (
            <KeyRow key={key.id} apiKey={key} onOpen={(kind) => setOpen({ kind, key })} />
          ))}
        </Table>
      )}
      {open?.kind === 'new' && <NewKeyDialog onClose={close} />}
      {open?.kind === 'rotate' && <RotateDialog apiKey={open.key} onClose={close} />}
      {open?.kind === 'revoke' && (
        <Confirm
          title={`Revoke “${open.key.name}”?`}
          text={<RevokeText apiKey={open.key} />}
          action="Revoke"
          danger
          onClose={close}
          onConfirm={async () => {
            await stet.apiKeys.revoke(open.key.id)
            await queries.invalidateQueries({ queryKey: keysQuery.queryKey })
            say(`${open.key.name} is revoked`)
          }}
        />
      )}
    </ListPage>
  )
}

function KeyRow({ apiKey, onOpen }: { apiKey: ApiKeyInfo; onOpen: (kind: 'rotate' | 'revoke') => void }) {
  const { name, prefix, scopes, projectId, author, lastUsedAt, expiresAt, revokedAt } = apiKey
  const state = stateOf(apiKey)
  return (
    <tr className={state === 'active' ? undefined : css['faintRow']}>
      <td className={css['name']}>{name}</td>
      <td>
        <code>{prefix}…</code>
      </td>
      <td>
        {roleOf(scopes)} {projectId !== null && <Chip>project {projectId}</Chip>}
      </td>
      <td title={author.email}>{author.name}</td>
      <td>{lastUsedAt ? <Time at={lastUsedAt} /> : 'never'}</td>
      <td>
        {revokedAt ? <Chip>revoked</Chip> : state === 'expired' ? <Chip tone="amber">expired</Chip> : null}
        {state === 'active' && (expiresAt ? <Time at={expiresAt} /> : 'never')}
      </td>
      <td>
        {state === 'active' && (
          <span className={css['actions']}>
            <Button look="quiet" aria-label={`Rotate ${name}`} onClick={() => onOpen('rotate')}>
              Rotate
            </Button>
            <Button look="quiet" aria-label={`Revoke ${name}`} onClick={() => onOpen('revoke')}>
              Revoke
            </Button>
          </span>
        )}
      </td>
    </tr>
  )
}

function RevokeText({ apiKey: { prefix, lastUsedAt, author } }: { apiKey: ApiKeyInfo }) {
  return (
    <>
      Everything that uses <code>{prefix}…</code> gets 401 from now on, and the sessions of {author.name} with this key
      end.{' '}
      {lastUsedAt ? (
        <>
          It was last used <Time at={lastUsedAt} />.
        </>
      ) : (
        'It was never used.'
      )}{' '}
      A revoked key cannot be restored.
    </>
  )
}

function stateOf({ revokedAt, expiresAt }: ApiKeyInfo): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && new Date(expiresAt) <= new Date() ? 'expired' : 'active'
}

function split(keys: readonly ApiKeyInfo[]): { active: ApiKeyInfo[]; ended: ApiKeyInfo[] } {
  return {
    active: keys.filter((key) => stateOf(key) === 'active'),
    ended: keys.filter((key) => stateOf(key) !== 'active'),
  }
}
