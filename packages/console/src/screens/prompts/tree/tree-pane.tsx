import type { TreeItem } from '@stet/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from 'react'
import { toPrompt } from '../../../app/addresses.ts'
import { Failure, messageOf } from '../../../app/failure.tsx'
import { isOutage } from '../../../app/frame/lines/connection.ts'
import { stepFrom, useShortcuts, useStepKeys } from '../../../app/shortcuts.ts'
import { Button } from '../../../ui/button.tsx'
import { inputClass } from '../../../ui/field.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Notice, Skeleton } from '../../../ui/states.tsx'
import { counted, Time } from '../../../ui/time.tsx'
import type { EditPlace } from '../edits/prompt-edits.ts'
import type { PromptEdits } from '../edits/use-prompt-edits.ts'
import { PromptTree } from './prompt-tree.tsx'
import css from './tree.module.css'
import { countsOf, foldersAbove, matching, pathsInOrder, type Row, rowsOf } from './tree.ts'

interface TreePaneProps {
  tree: UseQueryResult<TreeItem[]>
  place: EditPlace
  path: string | undefined
  edits: PromptEdits
  addressOf: (path: string) => string
  /** The content of an empty list. Beside an editor, the editor's place shows it. */
  empty: ReactNode
}

/** The list of prompts with its filter, its counts and what went wrong. */
export function TreePane({ tree, place, path, edits, addressOf, empty }: TreePaneProps) {
  const [filter, setFilter] = useState('')
  const wanted = useDeferredValue(filter)
  const [closed, toggle] = useClosedFolders(place.projectId, path)
  const items = tree.data ?? none
  const found = useMemo(() => matching(items, wanted), [items, wanted])
  const rows = useMemo(() => rowsOf(found, wanted ? nothingClosed : closed), [found, wanted, closed])
  const pane = useRef<HTMLDivElement>(null)
  const open = useOpenPath(place)
  useListKeys(edits, path)
  useStepKeys('prompt', 'Prompts', (step) => open(stepFrom(pathsInOrder(found), path, step)))
  const Heading = path === undefined ? 'h1' : 'h2'
  const focusFirst = () => pane.current?.querySelector<HTMLElement>('[role="treeitem"]')?.focus()

  return (
    <div className={css['frame']} ref={pane}>
      <div className={css['top']}>
        <Heading className={css['title']} tabIndex={-1}>
          Prompts
        </Heading>
        <Button
          look="quiet"
          square
          aria-label="New prompt"
          title="New prompt (n)"
          blocked={edits.blocked}
          onClick={() => edits.ask({ kind: 'new', path: folderOf(path) })}
        >
          <Icon name="plus" />
        </Button>
        {items.length > 0 && (
          <input
            type="search"
            className={inputClass}
            placeholder="Filter"
            aria-label="Filter the prompts"
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'ArrowDown' || event.key === 'Enter') focusFirst()
              else if (event.key === 'Escape' && filter) setFilter('')
              else return
              event.preventDefault()
            }}
          />
        )}
      </div>
      <TreeProblem tree={tree} failure={edits.failure} />
      <div className={css['scroll']}>
        {tree.isPending && <Skeleton lines={8} />}
        {tree.data?.length === 0 && empty}
        {rows.length > 0 && (
          <PromptTree
            rows={rows}
            openPath={path}
            addressOf={addressOf}
            onOpen={open}
            onToggle={toggle}
            onNew={(folder) => !edits.blocked && edits.ask({ kind: 'new', path: folder })}
            onRename={(row) => rename(edits, row, row.key.replace(/\/$/, ''))}
            onDelete={({ path, change }) => !edits.blocked && change !== 'deleted' && edits.remove(path)}
            onMove={(row, folder) => {
              const isInside = row.kind === 'folder' && folder.startsWith(row.key)
              if (!isInside && folder !== foldersAbove(row.key.replace(/\/$/, '')).at(-1))
                rename(edits, row, folder + row.name)
            }}
          />
        )}
        {items.length > 0 && !rows.length && <p className={css['nothing']}>No prompt has “{wanted}” in its path.</p>}
      </div>
      <Counts items={found} />
    </div>
  )
}

/** The list itself handles F2 and Del, for the row that has the focus. */
function useListKeys(edits: PromptEdits, path: string | undefined): void {
  const group = 'Prompts'
  useShortcuts([
    {
      keys: 'n',
      label: 'New prompt',
      group,
      blocked: edits.blocked,
      run: () => edits.ask({ kind: 'new', path: folderOf(path) }),
    },
    { keys: 'F2', label: 'Rename the focused prompt or folder', group, inPalette: false },
    { keys: 'Delete', label: 'Delete the focused prompt', group, inPalette: false },
  ])
}

/** Deleted prompts, and folders of only deleted prompts, cannot be renamed. */
function rename(edits: PromptEdits, row: Row, path: string): void {
  const isGone = row.kind === 'folder' ? row.count === 0 : row.item.change === 'deleted'
  if (!edits.blocked && !isGone) edits.ask({ kind: 'rename', row, path })
}

/** Above the list: how old it is, and what could not be done. */
function TreeProblem({ tree, failure }: { tree: TreePaneProps['tree']; failure: PromptEdits['failure'] }) {
  return (
    <>
      {tree.isError && !tree.data && (
        <Failure error={tree.error} what="The prompts could not be loaded" onRetry={() => void tree.refetch()} />
      )}
      {tree.isError && tree.data && !isOutage(tree.error) && (
        <Notice tone="amber" actions={<Button onClick={() => void tree.refetch()}>Try again</Button>}>
          This list is from <Time at={new Date(tree.dataUpdatedAt).toISOString()} />. {messageOf(tree.error)}
        </Notice>
      )}
      {failure && <Failure {...failure} />}
    </>
  )
}

function Counts({ items }: { items: readonly TreeItem[] }) {
  const { prompts, changes, errors } = useMemo(() => countsOf(items), [items])
  if (!items.length) return null
  return (
    <p className={css['counts']}>
      {counted(prompts, 'prompt')}
      {changes > 0 && ` · ${countOf(changes, 'changed')}`}
      {errors > 0 && (
        <>
          {' · '}
          <span className={css['error']}>{countOf(errors, 'with errors')}</span>
        </>
      )}
    </p>
  )
}

function countOf(count: number, what: string): string {
  return `${count} ${what}`
}

const none: TreeItem[] = []
const nothingClosed: ReadonlySet<string> = new Set()
/** The closed folders of each project, for as long as the page is open. */
const closedFolders = new Map<number, ReadonlySet<string>>()

/** The folders above the open prompt are open when it is opened. */
function useClosedFolders(projectId: number, path: string | undefined) {
  const [closed, setClosed] = useState(closedFolders.get(projectId) ?? nothingClosed)
  const [shown, setShown] = useState(path)
  const change = (next: ReadonlySet<string>) => {
    closedFolders.set(projectId, next)
    setClosed(next)
  }
  if (shown !== path) {
    setShown(path)
    const above = foldersAbove(path ?? '')
    if (above.some((folder) => closed.has(folder)))
      change(new Set([...closed].filter((folder) => !above.includes(folder))))
  }
  const toggle = (folder: string) => {
    const next = new Set(closed)
    if (!next.delete(folder)) next.add(folder)
    change(next)
  }
  return [closed, toggle] as const
}

/** The function does nothing without a path. */
function useOpenPath({ projectId, versionUuid }: EditPlace): (path: string | undefined) => void {
  const navigate = useNavigate({ from: '/p/$project/v/$version/prompts/$' })
  return (path) =>
    path !== undefined &&
    void navigate({
      ...toPrompt(projectId, versionUuid, path),
      search: ({ tab }) => (tab ? { tab } : {}),
    })
}

function folderOf(path = ''): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}
