import type { Version } from '@stet/sdk'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { BarActions } from '../../app/bar-actions.tsx'
import { diffQuery, listInterval, treeQuery, versionsQuery } from '../../app/queries.ts'
import { stet, useBlocked } from '../../app/session.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { RevertDialog } from '../../editor/diff/revert-dialog.tsx'
import type { DiffLayout } from '../../editor/diff/text-diff.tsx'
import { changeText, LayoutSwitch, type PromptChange, VersionDiff } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/mark.tsx'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import { Blockers, brokenIn, useChecks } from './checks.tsx'
import { type Conflict, ConflictDialog } from './conflict.tsx'
import css from './page.module.css'
import { PublishDialog } from './publish.tsx'
import { useSeen } from './seen.ts'

const route = getRouteApi('/shell/p/$project/v/$version/changes')

/** What a draft changes in live, prompt by prompt, and publishing it. */
export function ChangesPage() {
  const { project, version } = route.useParams()
  const projectId = Number(project)
  const { data: versions } = useSuspenseQuery(versionsQuery(projectId))
  const draft = versions.find(({ uuid }) => uuid === version)
  if (draft?.status === 'draft') return <DraftChanges key={draft.uuid} projectId={projectId} draft={draft} />
  // A draft that was just created is in the next list.
  if (!draft && version !== 'live') return <Skeleton />
  const drafts = versions.filter(({ status }) => status === 'draft')
  return (
    <Screen>
      <title>Changes · stet</title>
      <ScreenTitle>Changes</ScreenTitle>
      <Empty line="This version is published. Changes are made in drafts.">
        <ul className={css['drafts']}>
          {drafts.map(({ uuid, title, authorName, updatedAt }) => (
            <li key={uuid}>
              <Link to="/p/$project/v/$version/changes" params={{ project, version: uuid }}>
                {title}
              </Link>{' '}
              <span className={css['faint']}>
                {authorName}, <Time at={updatedAt} />
              </span>
            </li>
          ))}
        </ul>
      </Empty>
    </Screen>
  )
}

function DraftChanges({ projectId, draft }: { projectId: number; draft: Version }) {
  const { data } = useSuspenseQuery({ ...diffQuery(projectId, draft.uuid), refetchInterval: listInterval })
  const { prompt, view } = route.useSearch()
  const navigate = route.useNavigate()
  const seen = useSeen(draft.uuid)
  const [publishing, setPublishing] = useState(false)
  const [reverting, setReverting] = useState<PromptChange | null>(null)
  const [resolving, setResolving] = useState<Conflict | null>(null)
  const queries = useQueryClient()
  const checks = useChecks(projectId, draft)
  const needsPublish = useBlocked('publish')
  const { changes } = data
  const shown = changes.find(({ path }) => path === prompt) ?? changes[0]
  const params = { project: String(projectId), version: draft.uuid }
  const search = (next: { prompt?: string; view?: DiffLayout }) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  const broken = new Set(brokenIn(checks.data).map(({ path }) => path))
  const { data: items = [] } = useQuery(treeQuery(projectId, draft.uuid))
  const noteOf = (change: PromptChange) => {
    const { updatedAt, updatedBy } = items.find(({ path }) => path === change.path) ?? {}
    return (
      <>
        {broken.has(change.path) && <Chip tone="red">has errors</Chip>}
        {seen.isSeen(change) && <span className={css['seen']}>seen</span>}
        {updatedAt && (
          <span className={css['by']}>
            {updatedBy && `${updatedBy.name}, `}
            <Time at={updatedAt} />
          </span>
        )}
      </>
    )
  }
  useChangeKeys({ onSeen: shown && (() => seen.toggle(shown)), onPublish: () => setPublishing(true) })
  return (
    <Screen>
      <title>{`Changes in ${draft.title} · stet`}</title>
      <BarActions>
        <Button look="primary" blocked={needsPublish} onClick={() => setPublishing(true)}>
          Publish
        </Button>
      </BarActions>
      <ScreenTitle
        beside={
          changes.length > 0 && (
            <LayoutSwitch layout={view ?? 'unified'} onChange={(layout) => search({ view: layout })} />
          )
        }
      >
        {draft.title}
      </ScreenTitle>
      {changes.length === 0 ? (
        <NoChanges params={params} />
      ) : (
        <>
          <p className={css['faint']}>{changeText(changes)}</p>
          <Blockers projectId={projectId} draft={draft} checks={checks} onResolve={setResolving} />
          <VersionDiff
            changes={changes}
            current={shown?.path}
            onChoose={(path) => search({ prompt: path })}
            layout={view ?? 'unified'}
            onLayout={(layout) => search({ view: layout })}
            hasStepKeys
            note={noteOf}
            actions={(change) => (
              <ChangeActions
                change={change}
                params={params}
                isSeen={seen.isSeen(change)}
                onSeen={() => seen.toggle(change)}
                onRevert={() => setReverting(change)}
              />
            )}
          />
        </>
      )}
      <PublishDialog
        projectId={projectId}
        draft={draft}
        changes={changes}
        checks={checks}
        open={publishing && !resolving}
        onResolve={setResolving}
        onClose={() => setPublishing(false)}
      />
      {resolving && (
        <ConflictDialog
          projectId={projectId}
          versionUuid={draft.uuid}
          conflict={resolving}
          onClose={() => setResolving(null)}
        />
      )}
      {reverting && (
        <RevertDialog
          path={reverting.path}
          status={reverting.status}
          onClose={() => setReverting(null)}
          onConfirm={async () => {
            await stet.versions.revert(draft.uuid, { projectId, paths: [reverting.path] })
            await queries.invalidateQueries({ queryKey: ['project', projectId] })
            say(`${reverting.path} is reverted`)
          }}
        />
      )}
    </Screen>
  )
}

function useChangeKeys({ onSeen, onPublish }: { onSeen: (() => void) | undefined; onPublish: () => void }) {
  const needsPublish = useBlocked('publish')
  useShortcuts([
    {
      keys: 'v',
      label: 'Mark the prompt as seen, or not',
      group: 'Changes',
      blocked: !onSeen && 'there are no changes',
      run: () => onSeen?.(),
    },
    { keys: 'mod+Enter', label: 'Publish the draft', group: 'Changes', blocked: needsPublish, run: onPublish },
  ])
}

interface Params {
  project: string
  version: string
}

function NoChanges({ params }: { params: Params }) {
  return (
    <Empty line="No changes in this draft.">
      <Link to="/p/$project/v/$version/prompts" params={params}>
        Edit its prompts
      </Link>
      <p className={css['faint']}>
        Or send a folder: <code>stet push</code>
      </p>
    </Empty>
  )
}

interface ChangeActionsProps {
  change: PromptChange
  params: Params
  isSeen: boolean
  onSeen: () => void
  onRevert: () => void
}

function ChangeActions({ change, params, isSeen, onSeen, onRevert }: ChangeActionsProps) {
  const needsWrite = useBlocked('write')
  return (
    <>
      <Button look="quiet" aria-pressed={isSeen} shortcut="v" onClick={onSeen}>
        {isSeen ? 'Seen' : 'Mark as seen'}
      </Button>
      {change.status !== 'deleted' && (
        <Link
          className={css['action']}
          to="/p/$project/v/$version/prompts/$"
          params={{ ...params, _splat: change.path }}
        >
          Edit
        </Link>
      )}
      <Button look="quiet" blocked={needsWrite} onClick={onRevert}>
        Revert
      </Button>
    </>
  )
}
