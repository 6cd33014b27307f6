import type { Version } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { diffQuery } from '../../app/queries.ts'
import { useBlocked } from '../../app/session.ts'
import { changeText, LayoutSwitch, VersionDiff } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import css from './page.module.css'
import { RollBackDialog } from './roll-back.tsx'

const route = getRouteApi('/shell/p/$project/history')

interface EntryProps {
  projectId: number
  version: Version
  published: readonly Version[]
}

/** What a published version changed, who edited it afterwards, and the way back to it. */
export default function VersionEntry({ projectId, version, published }: EntryProps) {
  const { prompt, view = 'unified' } = route.useSearch()
  const navigate = route.useNavigate()
  const [rollingBack, setRollingBack] = useState(false)
  const needsWrite = useBlocked('write')
  const needsPublish = useBlocked('publish')
  const diff = useQuery(diffQuery(projectId, version.uuid))
  const choose = (search: { prompt?: string; view?: 'unified' | 'split' }) =>
    navigate({
      to: '/p/$project/history/$entry',
      params: { project: String(projectId), entry: version.uuid },
      search: (old) => ({ ...old, ...search }),
      replace: true,
    })
  return (
    <section className={css['entry']} aria-labelledby="entry-title">
      <header className={css['head']}>
        <div>
          <h2 id="entry-title" className={css['name']}>
            v{version.version} {version.title}
          </h2>
          {version.description && <p className={css['notes']}>{version.description}</p>}
        </div>
        {!version.isLive && (
          <Button blocked={needsPublish || needsWrite} onClick={() => setRollingBack(true)}>
            Roll back to v{version.version}
          </Button>
        )}
      </header>
      <ForcedEdits edits={version.forcedEdits} />
      {diff.isPending && <Skeleton lines={6} />}
      {diff.error && <Failure error={diff.error} what="The changes could not be loaded" onRetry={diff.refetch} />}
      {diff.data && (
        <>
          <div className={css['head']}>
            <p className={css['faint']}>
              {diff.data.changes.length ? changeText(diff.data.changes) : 'No prompt was changed.'}
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
      {rollingBack && (
        <RollBackDialog
          projectId={projectId}
          target={version}
          live={published.find(({ isLive }) => isLive)}
          onClose={() => setRollingBack(false)}
        />
      )}
    </section>
  )
}

function ForcedEdits({ edits }: { edits: Version['forcedEdits'] }) {
  if (edits.length === 0) return null
  return (
    <ul className={css['forced']}>
      {edits.map(({ path, author, createdAt, newHash }) => (
        <li key={`${path} ${createdAt} ${newHash}`}>
          <code>{path}</code> was {newHash === null ? 'deleted' : 'edited'} in place by {author?.name ?? 'somebody'},{' '}
          <Time at={createdAt} />
        </li>
      ))}
    </ul>
  )
}
