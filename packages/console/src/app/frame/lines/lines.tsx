import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { Button, buttonClass } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { Notice } from '../../../ui/states.tsx'
import { useNow } from '../../../ui/time.tsx'
import { toPrompt } from '../../addresses.ts'
import { base, sessionQuery } from '../../session.ts'
import { useLeftPrompts } from '../../unsaved.ts'
import css from '../frame.module.css'
import { type Outage, planNextAttempt, useOutage } from './connection.ts'
import { DeletedDraftLine } from './deleted-draft.tsx'
import { reload, useStale } from './upgrade.ts'

/** Notices for the whole page: an updated server, a server that does not answer, a connection that others can read. */
export function Lines() {
  const outage = useOutage()
  const isStale = useStale()
  return (
    <div className={css['lines']}>
      {isStale && (
        <Notice tone="blue" actions={<Button onClick={reload}>Reload</Button>}>
          stet was updated
        </Notice>
      )}
      {outage && <OutageLine outage={outage} />}
      <DeletedDraftLine />
      <LeftPrompts />
      <UnencryptedLine />
    </div>
  )
}

/** Prompts that the user has left before their text could be saved. */
function LeftPrompts() {
  return useLeftPrompts().map(({ id, projectId, versionUuid, path, text }) => (
    <Notice
      key={id}
      tone="amber"
      actions={
        <>
          <CopyButton text={text} label="Copy it" />
          <Link {...toPrompt(projectId, versionUuid, path)} className={buttonClass()}>
            Open
          </Link>
        </>
      }
    >
      {path} is not saved
    </Notice>
  ))
}

/** Shown on plain http, except on the server's own machine. */
export function UnencryptedLine() {
  const isLoopback = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(base.hostname)
  if (base.protocol !== 'http:' || isLoopback) return null
  return <Notice tone="amber">This connection is not encrypted</Notice>
}

const words: Record<Outage['kind'], string> = {
  unreachable: 'The server is not responding. Showing the last data loaded.',
  unavailable: 'The server is not available. Showing the last data loaded.',
  'rate-limited': 'Too many requests were sent. Showing the last data loaded.',
}

function OutageLine({ outage }: { outage: Outage }) {
  const queryClient = useQueryClient()
  const left = Math.max(0, Math.ceil((outage.retryAt - useNow(1000)) / 1000))
  const [isTrying, setTrying] = useState(false)
  const retry = async () => {
    setTrying(true)
    const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => null)
    if (session) await queryClient.invalidateQueries()
    else planNextAttempt()
    setTrying(false)
  }
  const retryWhenDue = useEffectEvent(retry)
  const isDue = left === 0
  useEffect(() => {
    if (isDue) void retryWhenDue()
  }, [isDue])
  return (
    <Notice
      tone="amber"
      actions={
        <Button onClick={retry} busy={isTrying}>
          Try now
        </Button>
      }
    >
      {words[outage.kind]}
      <span aria-hidden="true">{isTrying ? ' Trying again.' : ` Next attempt in ${left} s.`}</span>
    </Notice>
  )
}
