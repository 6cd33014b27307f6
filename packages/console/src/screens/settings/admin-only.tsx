import type { ReactNode } from 'react'
import { useSession } from '../../app/session.ts'
import { Empty } from '../../ui/states.tsx'
import css from './settings.module.css'

interface AdminOnlyProps {
  /** What the page manages: "keys". */
  what: string
  children: ReactNode
}

/** Shows the page to an admin, and to all others what it takes. */
export function AdminOnly({ what, children }: AdminOnlyProps) {
  const { apiKey } = useSession()
  if (apiKey.scopes.includes('admin') && apiKey.projectId === null) return children
  return (
    <Empty line={`Only admins manage ${what}.`}>
      <p className={css['text']}>
        {apiKey.scopes.includes('admin')
          ? `Your key “${apiKey.name}” is restricted to one project.`
          : `Your key “${apiKey.name}” does not have the admin scope. Ask an admin for a key that does.`}
      </p>
    </Empty>
  )
}
