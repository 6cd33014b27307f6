import type { ConsoleSession } from '@stet/contract/vocabulary'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { ConsoleError, callConsole, useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Chip } from '../../ui/mark.tsx'
import { Table } from '../../ui/table.tsx'
import { counted, Time } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import { useIsAdmin } from './admin-only.tsx'
import { ListPage } from './parts.tsx'
import { sessionsQuery } from './queries.ts'
import css from './settings.module.css'

export default function SessionsPage() {
  const list = useQuery(sessionsQuery)
  const { data } = list
  const queries = useQueryClient()
  const end = useMutation({
    mutationFn: (ids: readonly number[]) =>
      Promise.all(ids.map((id) => callConsole('DELETE', `/console/sessions/${id}`).catch(ignoreEnded))),
    onSuccess: (_, ids) => say(`${counted(ids.length, 'session')} ended`),
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
  const [asked, ask] = useState<'mine' | 'all' | null>(null)
  const isAdmin = useIsAdmin()
  const { author } = useSession().apiKey
  const all = (data ?? []).filter(({ isCurrent }) => !isCurrent)
  const mine = all.filter((session) => session.author.id === author.id)
  const ended = asked === 'all' ? all : mine
  return (
    <ListPage
      text="A session is a browser that is signed in. It ends by itself when it is not used, and at once when its key is revoked."
      action={
        <span className={css['actions']}>
          <Button blocked={mine.length === 0 && 'you have no other session'} onClick={() => ask('mine')}>
            End my other sessions
          </Button>
          {isAdmin && (
            <Button blocked={all.length === 0 && 'there is no other session'} onClick={() => ask('all')}>
              End everyone’s sessions
            </Button>
          )}
        </span>
      }
      list={list}
      what="sessions"
    >
      {end.error && <Failure error={end.error} what="Not every session ended" />}
      {asked && (
        <Confirm
          title={asked === 'all' ? 'End everyone’s sessions?' : 'End your other sessions?'}
          text={`${counted(ended.length, 'session')} of ${peopleOf(ended)} will end at once. This browser stays signed in.`}
          action={`End ${counted(ended.length, 'session')}`}
          danger
          onClose={() => ask(null)}
          onConfirm={() => end.mutateAsync(ended.map(({ id }) => id))}
        />
      )}
      {data && (
        <Table label="Sessions" head={['Browser', 'Person', 'Key', 'Signed in', 'Last seen', '']}>
          {data.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              isEnding={end.isPending && end.variables.includes(session.id)}
              onEnd={() => end.mutate([session.id])}
            />
          ))}
        </Table>
      )}
    </ListPage>
  )
}

/** "Ana, Ben and 3 others" */
function peopleOf(sessions: readonly ConsoleSession[]): string {
  const [first = '', second, ...others] = new Set(sessions.map(({ author }) => author.name))
  if (others.length > 0) return `${first}, ${second} and ${counted(others.length, 'other')}`
  return second === undefined ? first : `${first} and ${second}`
}

/** A session that has ended meanwhile is what the user wanted. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof ConsoleError && error.status === 404)) throw error
}

interface RowProps {
  session: ConsoleSession
  isEnding: boolean
  onEnd: () => void
}

function SessionRow({ session, isEnding, onEnd }: RowProps) {
  const { apiKey, author, userAgent, createdAt, lastSeenAt, isCurrent } = session
  const browser = browserOf(userAgent)
  return (
    <tr>
      <td className={css['browser']} title={userAgent}>
        {browser}
      </td>
      <td title={author.email}>{author.name}</td>
      <td>{apiKey.name}</td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>
        <Time at={lastSeenAt} />
      </td>
      <td>
        {isCurrent ? (
          <Chip tone="green">this browser</Chip>
        ) : (
          <Button
            look="quiet"
            busy={isEnding}
            aria-label={`End the session of ${author.name} in ${browser}`}
            onClick={onEnd}
          >
            End
          </Button>
        )}
      </td>
    </tr>
  )
}

/** "Firefox on Windows". Browsers name others in their texts, so the order matters. */
function browserOf(userAgent: string): string {
  const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari']
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }
  const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux']
  const browser = browsers.find((name) => userAgent.includes(`${name}/`))
  const system = systems.find((name) => userAgent.includes(name))
  if (!browser) return userAgent.slice(0, 40) || 'unknown'
  return `${names[browser] ?? browser}${system ? ` on ${system.replace('Mac OS', 'macOS')}` : ''}`
}
