import type { Person } from '@stet/contract/vocabulary'
import { useSession } from '../../app/session.ts'
import { Empty } from '../../ui/states.tsx'
import css from './settings.module.css'

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

/**
 * Says what it takes to see a page, in its place.
 *
 * @param props.what the resources of the page: "keys"
 */
export function AdminOnly({ what }: { what: string }) {
  const { apiKey, admins } = useSession()
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
