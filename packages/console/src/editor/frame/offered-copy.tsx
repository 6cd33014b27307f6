import { useQuery } from '@tanstack/react-query'
import { versionsQuery } from '../../app/queries.ts'
import { useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { UnsavedCopy } from '../buffer/unsaved-copy.ts'
import type { Opened } from '../open-prompt.ts'

/** Names the writer of a copy if it was another person. */
export function WrittenBy({ copy: { by } }: { copy: UnsavedCopy }) {
  const { apiKey } = useSession()
  return by !== undefined && by.id !== apiKey.author.id && `by ${by.name} `
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
    <Notice
      tone="amber"
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
      Text <WrittenBy copy={offered.copy} />
      from <Time at={new Date(offered.copy.at).toISOString()} /> was not saved when the page closed.
      {isElsewhere && ` It was written in ${origin?.title ?? 'another version'}.`}
    </Notice>
  )
}
