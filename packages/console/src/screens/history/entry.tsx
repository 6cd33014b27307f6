import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { toEntry } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { diffQuery } from '../../app/queries.ts'
import { useBlocked } from '../../app/session.ts'
import { changedPrompts } from '../../editor/diff/changed-prompts.ts'
import { changeText, LayoutSwitch, VersionDiff } from '../../editor/diff/version-diff.tsx'
import { Button, join } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import { Time } from '../../ui/time.tsx'
import type { TextsRow } from './history-rows.ts'
import css from './page.module.css'
import { RollBackDialog } from './roll-back.tsx'

const route = getRouteApi('/shell/p/$project/history')

interface EntryProps {
  projectId: number
  row: TextsRow
  /** Undefined if nothing is live. */
  live: TextsRow | undefined
}

/** The changes of a published version or of an edit of it, and the way back to these texts. */
export default function HistoryEntry({ projectId, row, live }: EntryProps) {
  const { prompt, view = 'unified' } = route.useSearch()
  const navigate = route.useNavigate()
  const [rollingBack, setRollingBack] = useState(false)
  const needsPublish = useBlocked('publish')
  const diff = useQuery({ ...diffQuery(projectId, row.texts, row.base?.texts), select: changedPrompts })
  const choose = (search: { prompt?: string; view?: 'unified' | 'split' }) =>
    navigate({ ...toEntry(projectId, row.entry), search: (old) => ({ ...old, ...search }), replace: true })
  const name = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // On a narrow screen the row that was opened is hidden, with its focus.
    if (!document.activeElement?.checkVisibility()) name.current?.focus()
  }, [])
  const compared = row.base ? `, compared with ${row.base.name}` : ''
  return (
    <section className={join(layout['apart'], css['entry'])} aria-labelledby="entry-title">
      <Link
        className={css['back']}
        to="/p/$project/history"
        params={{ project: String(projectId) }}
        search={view === 'split' ? { view } : {}}
      >
        <span aria-hidden="true">← </span>Back to the history
      </Link>
      <header className={css['head']}>
        <div>
          <h2 ref={name} id="entry-title" className={css['name']} tabIndex={-1}>
            {row.name} {row.version.title}
          </h2>
          <Notes row={row} />
        </div>
        {!row.isLive && live && (
          <Button
            blocked={needsPublish || (!row.wasServed && 'live has never served it')}
            onClick={() => setRollingBack(true)}
          >
            Roll back to {row.name}
          </Button>
        )}
      </header>
      {diff.isPending && <Skeleton lines={6} />}
      {diff.error && <Failure error={diff.error} what="The changes could not be loaded" onRetry={diff.refetch} />}
      {diff.data && (
        <>
          <div className={css['head']}>
            <p className="faint">
              {diff.data.changes.length ? changeText(diff.data.changes) : 'No prompt was changed'}
              {compared}.
            </p>
            {diff.data.changes.length > 0 && (
              <LayoutSwitch layout={view} onChange={(layout) => choose({ view: layout })} />
            )}
          </div>
          <VersionDiff
            changes={diff.data.changes}
            current={prompt}
            onChoose={(path) => choose({ prompt: path })}
            layout={view}
            onLayout={(layout) => choose({ view: layout })}
          />
        </>
      )}
      {rollingBack && live && (
        <RollBackDialog projectId={projectId} target={row} live={live} onClose={() => setRollingBack(false)} />
      )}
    </section>
  )
}

/** The release notes of a version with who published it, or who edited it with force. */
function Notes({ row: { edit, version } }: { row: TextsRow }) {
  const { description, authorName, publishedBy, mergedAt } = version
  if (!edit)
    return (
      <>
        {description && <p className={css['notes']}>{description}</p>}
        <p className={css['notes']}>
          {authorName}
          {publishedBy && `, published by ${publishedBy.name}`}
          {mergedAt && (
            <>
              , <Time at={mergedAt} />
            </>
          )}
        </p>
      </>
    )
  return (
    <p className={css['notes']}>
      <code>{edit.path}</code> was {edit.oldHash === null ? 'added' : 'edited'} with force by {edit.author.name},{' '}
      <Time at={edit.createdAt} />
    </p>
  )
}
