import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failure } from '../../app/failure.tsx'
import { roles } from '../../app/roles.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ChoiceField } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/states.tsx'
import css from './settings.module.css'

interface PartProps {
  text: string
  /** What can be done with the list as a whole. */
  action: ReactNode
  list: Pick<UseQueryResult, 'isPending' | 'error' | 'refetch'>
  /** The resources of the list: "keys". */
  what: string
  children: ReactNode
}

/** A page of settings with a list: what it is for, its action, and why there is no list. */
export function ListPage({ text, action, list: { isPending, error, refetch }, what, children }: PartProps) {
  return (
    <section className={css['section']}>
      <div className={css['intro']}>
        <p className={css['text']}>{text}</p>
        {action}
      </div>
      {isPending && <Skeleton lines={4} />}
      {error && <Failure error={error} what={`The ${what} could not be loaded`} onRetry={refetch} />}
      {children}
    </section>
  )
}

/** A choice of what a key or a person may do. */
export function RoleField({ value, onChange }: { value: string; onChange: (role: string) => void }) {
  const chosen = roles.find(({ name }) => name === value)
  return (
    <ChoiceField
      label="Role"
      note={chosen?.scopes.join(', ')}
      value={value}
      choices={roles.map(({ name, text }) => [name, `${name}: ${text}`])}
      onChange={onChange}
    />
  )
}

interface ShownOnceProps {
  title: string
  text: ReactNode
  secret: string
  /** The name of the secret for screen readers, for example "the key". */
  label: string
  onClose: () => void
  children?: ReactNode
}

/** A secret that cannot be shown again, so only the button closes the dialog. */
export function ShownOnce({ title, text, secret, label, onClose, children }: ShownOnceProps) {
  return (
    <Dialog
      title={title}
      text={text}
      isFirm
      onClose={onClose}
      actions={
        <Button look="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <Code text={secret} label={label} />
      {children}
    </Dialog>
  )
}

/** The secret of a new or rotated key. */
export function SecretDialog({ name, secret, onClose }: Pick<ShownOnceProps, 'secret' | 'onClose'> & { name: string }) {
  return (
    <ShownOnce
      title={`The key “${name}”`}
      text="Copy it now. Only its first letters are kept, so it cannot be shown again."
      label="the key"
      {...{ secret, onClose }}
    >
      <p className="faint">
        In applications: <code>STET_API_KEY</code>. In the command line: <code>stet login</code>.
      </p>
    </ShownOnce>
  )
}
