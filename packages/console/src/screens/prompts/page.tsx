import type { TreeItem } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react'
import { toPrompts, useSetSearch } from '../../app/addresses.ts'
import { treeQuery, versionsQuery } from '../../app/queries.ts'
import { openBuffers } from '../../editor/buffer/open-buffers.ts'
import { Dialogs } from './edits/dialogs.tsx'
import type { EditPlace } from './edits/prompt-edits.ts'
import { usePromptEdits } from './edits/use-prompt-edits.ts'
import { LeftTexts } from './left-texts.tsx'
import { DeletedPrompt, FirstPrompt, NoPrompt } from './no-prompt.tsx'
import css from './open.module.css'
import { usePaneLayout } from './panes/layout.ts'
import { Panes } from './panes/panes.tsx'
import { isPromptTab } from './panes/prompt-tabs.ts'
import { TreePane } from './tree/tree-pane.tsx'

/** The list alone needs neither the panels nor what runs a prompt. */
const OpenPanes = lazy(() => import('./open-panes.tsx'))

/** The prompts of a version: the tree, the open prompt's text, and what belongs to it. */
export function PromptsPage() {
  const { project = '', version = 'live', _splat } = useParams({ strict: false })
  const path = _splat || undefined
  const { tab, example } = useSearch({ strict: false })
  const setSearch = useSetSearch()
  const place = usePlace(Number(project), version)
  const tree = useQuery({ ...treeQuery(place.projectId, version), enabled: place.isKnown })
  const items = tree.isPlaceholderData ? undefined : tree.data
  // The server answers a poll by its text alone, so a prompt that has moved is noticed in the list.
  useEffect(() => {
    if (items) openBuffers.follow({ projectId: place.projectId, versionUuid: version }, items)
  }, [items, place.projectId, version])
  const open = items?.find((item) => item.path === path)
  const isDeleted = useDeleted(place, path, open)
  // Reading a prompt that the draft deletes is an error, so the list must be there first.
  const isWaiting = version !== 'live' && tree.isPending
  const edits = usePromptEdits(place, { version, path })

  const panes = usePaneLayout({
    path,
    tab: isPromptTab(tab) ? tab : undefined,
    onTab: (next) => setSearch({ tab: next }),
  })
  const empty = panes.layout === 'narrow' && <FirstPrompt edits={edits} />
  const addressOf = usePromptAddress(project, version)

  return (
    <div className={css['page']}>
      {!path && <title>Prompts · stet</title>}
      <LeftTexts key={place.projectId} {...{ place, path, tree, edits }} />
      <Panes
        panes={panes}
        hasPanels={path !== undefined && !isDeleted}
        tree={<TreePane {...{ tree, place, path, edits, addressOf, empty }} />}
      >
        {path === undefined ? (
          <NoPrompt {...{ panes, tree, edits }} />
        ) : isWaiting ? null : isDeleted ? (
          <DeletedPrompt {...{ place, path, panes, edits }} movedTo={open?.movedTo} />
        ) : (
          <Suspense>
            <OpenPanes {...{ place, path, panes, edits, example }} item={open} />
          </Suspense>
        )}
      </Panes>
      {edits.dialog && (
        <Dialogs projectId={place.projectId} edits={edits} dialog={edits.dialog} items={tree.data ?? []} />
      )}
    </div>
  )
}

/**
 * A colleague may delete the prompt while the user types. The editor stays then, and offers to keep the text. If the prompt
 * was moved, its editor follows it.
 */
function useDeleted(place: EditPlace, path: string | undefined, item: TreeItem | undefined): boolean {
  const stays = useSyncExternalStore(openBuffers.watch, () => {
    if (path === undefined) return false
    const at = { ...place, path }
    return item?.movedTo === undefined ? openBuffers.holdsText(at) : openBuffers.find(at) !== null
  })
  return item?.change === 'deleted' && !stays
}

/** The version of the address. Before the first publication nothing is live, so the address changes to a draft. */
function usePlace(projectId: number, version: string): EditPlace & { isKnown: boolean; isDraft: boolean } {
  const versions = useQuery(versionsQuery(projectId))
  const navigate = useNavigate()
  const found = versions.data?.find(({ uuid, isLive }) => (version === 'live' ? isLive : uuid === version))
  const draft = version === 'live' && versions.data && !found ? versions.data[0]?.uuid : undefined
  useEffect(() => {
    if (draft) void navigate({ ...toPrompts(projectId, draft), replace: true })
  }, [draft, navigate, projectId])
  return {
    projectId,
    versionUuid: version,
    isLive: version === 'live' || found?.isLive === true,
    isDraft: found?.status === 'draft',
    // A project without a live version answers 404 for `live`. If the versions cannot be read, the tree shows the error.
    isKnown: version !== 'live' || found !== undefined || versions.isError || versions.data?.length === 0,
  }
}

/** Makes the addresses of prompts. A tree has a thousand of them, so the router builds only their beginning. */
function usePromptAddress(project: string, version: string): (path: string) => string {
  const router = useRouter()
  const { href } = router.buildLocation(toPrompts(project, version))
  const start = router.history.createHref(href).replace(/\/$/, '')
  return (path) => `${start}/${path.split('/').map(encodeURIComponent).join('/')}`
}
