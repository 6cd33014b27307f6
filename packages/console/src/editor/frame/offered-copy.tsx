import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { versionsQuery } from '../../app/queries.ts'
import { useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { OfferedText } from '../buffer/unsaved-copy.ts'
import type { Opened } from '../open-prompt.ts'

interface NotSavedProps extends Pick<OfferedText, 'copy'> {
  /** Left out in the prompt's own editor. */
  path?: string
  actions: ReactNode
  /** The end of "Text of a/b by Leo from 12:04 was not saved". */
  children: ReactNode
}

/** Text of an ended page. Names the prompt, and the writer if it was another person. */
export function NotSaved({ copy: { by, at }, path, actions, children }: NotSavedProps) {
  const { apiKey } = useSession()
  const of = path !== undefined && (
    <>
      of <code>{path}</code>{' '}
    </>
  )
  return (
    <Notice tone="amber" actions={actions}>
      Text {of}
      {by !== undefined && by.id !== apiKey.author.id && `by ${by.name} `}
      from <Time at={new Date(at).toISOString()} /> was not saved{children}
    </Notice>
  )
}

/** Text of an earlier page that was never saved. The user decides; until then it stays in the browser. */
export function OfferedCopy({ open: { offered, place, buffer, blocked } }: { open: Opened }) {
  const { data: versions } = useQuery(versionsQuery(place.projectId))
  if (!offered) return null
  const isElsewhere = offered.versionUuid !== place.versionUuid
  const origin = versions?.find(({ uuid, isLive }) =>
    offered.versionUuid === 'live' ? isLive : uuid === offered.versionUuid,
  )
  return (
    <NotSaved
      copy={offered.copy}
      actions={
        <>
          <CopyButton text={offered.copy.text} label="Copy it" />
          <Button onClick={() => buffer.discard(offered)}>Discard</Button>
          <Button blocked={blocked} onClick={() => void buffer.restore(offered)}>
            Restore
          </Button>
        </>
      }
    >
      {' '}
      when the page closed.
      {isElsewhere && ` It was written in ${origin?.title ?? 'another version'}.`}
    </NotSaved>
  )
}
