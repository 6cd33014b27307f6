import type { ProviderKeyInfo } from '@stet/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { providersQuery } from '../../../app/queries.ts'
import { stet } from '../../../app/session.ts'
import { Button } from '../../../ui/button.tsx'
import { Confirm } from '../../../ui/dialog.tsx'
import { Chip } from '../../../ui/mark.tsx'
import { Table } from '../../../ui/table.tsx'
import { Time } from '../../../ui/time.tsx'
import { say } from '../../../ui/toast.tsx'
import { ListPage } from '../parts.tsx'
import { providerKeysQuery } from '../queries.ts'
import css from '../settings.module.css'
import { ProviderDialog, TestDialog } from './dialogs.tsx'

type Action = 'test' | 'edit' | 'delete'
type Open = { kind: 'new' } | { kind: Action; provider: ProviderKeyInfo } | null

export default function ProvidersPage() {
  const list = useQuery(providerKeysQuery)
  const { data } = list
  const { data: usable = [] } = useQuery(providersQuery)
  const queries = useQueryClient()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const demo = usable.find(({ isDemo }) => isDemo)?.name
  return (
    <ListPage
      text="A prompt names its provider in the front matter. Keys are stored encrypted and never shown again."
      action={
        <Button look="primary" onClick={() => setOpen({ kind: 'new' })}>
          Add a provider
        </Button>
      }
      list={list}
      what="providers"
    >
      {data && (
        <Table label="Providers" head={['Name', 'Type', 'Key', 'Default model', 'Last used', '']}>
          {data.map((provider) => (
            <ProviderRow
              key={`${provider.id} ${provider.name}`}
              provider={provider}
              isDemo={provider.id === 0 && provider.name === demo}
              onOpen={(kind) => setOpen({ kind, provider })}
            />
          ))}
        </Table>
      )}
      {open?.kind === 'new' && <ProviderDialog onClose={close} />}
      {open?.kind === 'edit' && <ProviderDialog provider={open.provider} onClose={close} />}
      {open?.kind === 'test' && <TestDialog provider={open.provider} onClose={close} />}
      {open?.kind === 'delete' && (
        <Confirm
          title={`Delete the provider “${open.provider.name}”?`}
          text="Prompts that name it will fail to run. Its key is deleted."
          action="Delete"
          danger
          onClose={close}
          onConfirm={async () => {
            await stet.providerKeys.delete(open.provider.id)
            await queries.invalidateQueries()
            say(`${open.provider.name} is deleted`)
          }}
        />
      )}
    </ListPage>
  )
}

interface RowProps {
  provider: ProviderKeyInfo
  isDemo: boolean
  onOpen: (kind: Action) => void
}

function ProviderRow({ provider, isDemo, onOpen }: RowProps) {
  const { id, name, token, url, defaultModel, lastUsedAt } = provider
  const isStored = id !== 0
  return (
    <tr>
      <td className={css['name']}>{name}</td>
      <td title={url ?? undefined}>{isDemo ? 'demo' : provider.provider}</td>
      <td>{isStored ? <code>{token}</code> : <Chip>{isDemo ? 'built in' : 'from the environment'}</Chip>}</td>
      <td>{defaultModel ?? '–'}</td>
      <td>{lastUsedAt ? <Time at={lastUsedAt} /> : isStored ? 'never' : 'not since the server started'}</td>
      <td>
        <span className={css['actions']}>
          <Button look="quiet" aria-label={`Test ${name}`} onClick={() => onOpen('test')}>
            Test
          </Button>
          {isStored && (
            <>
              <Button look="quiet" aria-label={`Edit ${name}`} onClick={() => onOpen('edit')}>
                Edit
              </Button>
              <Button look="quiet" aria-label={`Delete ${name}`} onClick={() => onOpen('delete')}>
                Delete
              </Button>
            </>
          )}
        </span>
      </td>
    </tr>
  )
}
