import type { Person } from '@stet/contract/vocabulary'
import type { ReactNode } from 'react'
import { useSession } from '../../app/session.ts'
import { Empty } from '../../ui/states.tsx'
import css from './settings.module.css'

interface AdminOnlyProps {
  /** The resources of the page: "keys". */
  what: string
  children: ReactNode
}

/** The first key of an installation belongs to a program, so there may be no person with an admin key yet. */
function whomToAsk(admins: readonly Person[]): string {
  const names = admins.map(({ name, email }) => `${name} (${email})`)
  return names.length > 0
    ? `These people can make changes: ${names.join(', ')}`
    : 'Ask the person who runs this server.'
}

/** True if the key manages the whole workspace. */
export function useIsAdmin(): boolean {
  const { apiKey } = useSession()
  return apiKey.scopes.includes('admin') && apiKey.projectId === null
}

/** Shows the page to an admin, and to all others what it takes. */
export function AdminOnly({ what, children }: AdminOnlyProps) {
  const { apiKey, admins } = useSession()
  if (useIsAdmin()) return children
  return (
    <Empty line={`Only admins manage ${what}.`}>
      <p className={css['text']}>
        {apiKey.scopes.includes('admin')
          ? `Your key “${apiKey.name}” is restricted to one project.`
          : `Your key “${apiKey.name}” does not have the admin scope.`}
      </p>
      <p className={css['text']}>{whomToAsk(admins)}</p>
    </Empty>
  )
}
