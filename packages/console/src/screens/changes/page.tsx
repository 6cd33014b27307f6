import type { TreeItem, Version } from '@stet/sdk'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { toChanges, toPrompt, toPrompts } from '../../app/addresses.ts'
import { diffQuery, listInterval, treeQuery, versionsQuery } from '../../app/queries.ts'
import { useBlocked } from '../../app/session.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { openBuffers } from '../../editor/buffer/open-buffers.ts'
import { changedPrompts, type PromptChange } from '../../editor/diff/changed-prompts.ts'
import { RevertDialog } from '../../editor/diff/revert-dialog.tsx'
import type { DiffLayout } from '../../editor/diff/text-diff.tsx'
import { changeText, LayoutSwitch, VersionDiff } from '../../editor/diff/version-diff.tsx'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/mark.tsx'
import { BarActions, Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty, Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import { Time } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import { Blockers, brokenIn, useChecks } from './checks.tsx'
import { ConflictDialog, type LiveConflict } from './conflict.tsx'
import { Evidence } from './evidence.tsx'
import { GateLines } from './gates.tsx'
import css from './page.module.css'
import { PublishDialog } from './publish.tsx'
import { useSeen } from './seen.ts'

const route = getRouteApi('/shell/p/$project/v/$version/changes')

/** The changes of a draft against live, prompt by prompt, and its publication. */
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
        <ul className={layout['stack']}>
          {drafts.map(({ uuid, title, authorName, updatedAt }) => (
            <li key={uuid}>
              <Link {...toChanges(projectId, uuid)}>{title}</Link>{' '}
              <span className="faint">
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
  const { data } = useSuspenseQuery({
    ...diffQuery(projectId, draft.uuid),
    select: changedPrompts,
    refetchInterval: listInterval,
  })
  const { prompt, view } = route.useSearch()
  const navigate = route.useNavigate()
  const seen = useSeen(draft.uuid)
  const [publishing, setPublishing] = useState(false)
  const [resolving, setResolving] = useState<LiveConflict | null>(null)
  const checks = useChecks(projectId, draft)
  const needsPublish = useBlocked('publish')
  const { changes } = data
  const shown = changes.find(({ path }) => path === prompt) ?? changes[0]
  const params = { project: String(projectId), version: draft.uuid }
  const search = (next: { prompt?: string; view?: DiffLayout }) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true })
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
          <p className="faint">{changeText(changes)}</p>
          <Blockers projectId={projectId} draft={draft} checks={checks} onResolve={setResolving} />
          <ChangedPrompts
            {...{ projectId, draft, changes, checks, seen, shown }}
            layout={view ?? 'unified'}
            onSearch={search}
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
    </Screen>
  )
}

interface ChangedPromptsProps {
  projectId: number
  draft: Version
  changes: readonly PromptChange[]
  checks: ReturnType<typeof useChecks>
  seen: ReturnType<typeof useSeen>
  shown: PromptChange | undefined
  layout: DiffLayout
  onSearch: (next: { prompt?: string; view?: DiffLayout }) => void
}

function ChangedPrompts(props: ChangedPromptsProps) {
  const { projectId, draft, changes, checks, seen, shown, layout, onSearch } = props
  const [reverting, setReverting] = useState<PromptChange | null>(null)
  const broken = brokenIn(checks.data)
  const { data: items } = useQuery(treeQuery(projectId, draft.uuid))
  const params = { project: String(projectId), version: draft.uuid }
  const queries = useQueryClient()
  const revert = async ({ path }: PromptChange) => {
    await openBuffers.revert({ projectId, versionUuid: draft.uuid, path })
    await queries.invalidateQueries({ queryKey: ['project', projectId] })
    say(`${path} is reverted`)
  }
  return (
    <>
      <VersionDiff
        changes={changes}
        current={shown?.path}
        onChoose={(path) => onSearch({ prompt: path })}
        layout={layout}
        onLayout={(view) => onSearch({ view })}
        hasStepKeys
        note={(change) => (
          <ChangeNote
            isBroken={broken.some(({ path }) => path === change.path)}
            isSeen={seen.isSeen(change)}
            item={items?.find(({ path }) => path === change.path)}
          />
        )}
        evidence={({ status, documentUuid }) =>
          status !== 'deleted' && (
            <>
              <Evidence {...{ projectId, draft, documentUuid }} />
              <GateLines
                {...{ projectId, draft }}
                gates={checks.data?.gates.filter((gate) => gate.documentUuid === documentUuid) ?? []}
              />
            </>
          )
        }
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
      {reverting && (
        <RevertDialog {...reverting} onConfirm={() => revert(reverting)} onClose={() => setReverting(null)} />
      )}
    </>
  )
}

interface ChangeNoteProps {
  isBroken: boolean
  isSeen: boolean
  /** Undefined until the tree is loaded. */
  item: TreeItem | undefined
}

function ChangeNote({ isBroken, isSeen, item }: ChangeNoteProps) {
  return (
    <>
      {isBroken && <Chip tone="red">has errors</Chip>}
      {isSeen && <span className={css['seen']}>seen</span>}
      {item && (
        <span className={css['by']}>
          {item.updatedBy && `${item.updatedBy.name}, `}
          <Time at={item.updatedAt} />
        </span>
      )}
    </>
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
      <Link {...toPrompts(params.project, params.version)}>Edit its prompts</Link>
      <p className="faint">
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
        <Link className={css['action']} {...toPrompt(params.project, params.version, change.path)}>
          Edit
        </Link>
      )}
      <Button look="quiet" blocked={needsWrite} onClick={onRevert}>
        Revert
      </Button>
    </>
  )
}
