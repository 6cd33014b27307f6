import type { TreeItem } from '@stet/sdk'
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type RefObject,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { changeMarks, describeChange, kindOf } from '../../../editor/diff/changed-prompts.ts'
import { Hidden, join } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { counted, countText } from '../../../ui/time.tsx'
import { listen } from '../../../ui/watched.ts'
import css from './tree.module.css'
import { type FolderRow, isBroken, moved, type PromptRow, type Row, typedRow } from './tree.ts'

/** More than a screen shows. */
const firstRows = 80
/** Letters typed within this time belong to one word. */
const typingMs = 700

interface PromptTreeProps {
  rows: readonly Row[]
  /** The prompt that the screen shows. */
  openPath: string | undefined
  addressOf: (path: string) => string
  onOpen: (path: string) => void
  onToggle: (folder: string) => void
  /** Keys that change something. `folder` is where the focus is, with a slash at its end, or empty. */
  onNew: (folder: string) => void
  onRename: (row: Row) => void
  onDelete: (item: TreeItem) => void
  /** A row was dropped on a folder, or on the empty space below all rows. */
  onMove: (row: Row, folder: string) => void
}

/**
 * The prompts of a version as an ARIA tree. Its rows are a flat list with levels, which browsers lay out faster than
 * nested groups. Each prompt is a link, so that it can be opened in another tab.
 */
export function PromptTree({ rows: all, openPath, addressOf, ...actions }: PromptTreeProps) {
  // The rows of the first screenful are painted at once. The others follow without holding up a key or a click.
  const rows = useDeferredValue(all, all.slice(0, firstRows))
  const tree = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<string | null>(null)
  const current = [focused, openPath].find((key) => rows.some((row) => row.key === key)) ?? rows[0]?.key
  const at = rows.findIndex((row) => row.key === current)
  const focus = (index: number) => elementAt(tree, index)?.focus()
  const onKeyDown = useTreeKeys(rows, at, focus, actions)
  const drop = useDrop(rows, actions.onMove)
  useKeptFocus(tree, rows, at)
  useShownRow(tree, rows, openPath)

  return (
    <div
      ref={tree}
      className={css['tree']}
      role="tree"
      aria-label="Prompts"
      onKeyDown={onKeyDown}
      onFocus={({ target }) => setFocused(target.dataset['key'] ?? null)}
      onClick={(event) => {
        const row = rows[indexOf(event.target)]
        if (row?.kind === 'folder') actions.onToggle(row.key)
        // Other clicks on a link belong to the browser: another tab, another window, a download.
        if (row?.kind !== 'prompt' || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        actions.onOpen(row.key)
      }}
      {...drop.handlers}
    >
      {rows.map((row) =>
        row.kind === 'folder' ? (
          <FolderLine key={row.key} row={row} isCurrent={row.key === current} isTarget={row.key === drop.target} />
        ) : (
          <PromptLine
            key={row.key}
            row={row}
            isCurrent={row.key === current}
            isOpen={row.key === openPath}
            href={addressOf(row.key)}
          />
        ),
      )}
    </div>
  )
}

interface LineProps<Kind extends Row> {
  row: Kind
  /** Tab leads to this row. */
  isCurrent: boolean
}

const FolderLine = memo(({ row, isCurrent, isTarget }: LineProps<FolderRow> & { isTarget: boolean }) => (
  <div
    role="treeitem"
    tabIndex={isCurrent ? 0 : -1}
    {...rowProps(row)}
    className={css['row']}
    aria-expanded={row.isOpen}
    data-target={isTarget || undefined}
    draggable
  >
    <span className={css['sign']} data-open={row.isOpen || undefined}>
      <Icon name="right" size={12} />
    </span>
    <span className={join(css['folder'], 'faint')}>{row.name}</span>
    {!row.isOpen && row.errors > 0 && <ErrorMark text={`${counted(row.errors, 'prompt')} with errors`} />}
    {!row.isOpen && row.changes > 0 && (
      <span className={css['dot']} title={counted(row.changes, 'change')}>
        <Hidden>, {counted(row.changes, 'change')}</Hidden>
      </span>
    )}
    <span className={css['count']}>
      <Hidden>, </Hidden>
      {countText(row.count)}
      <Hidden> prompts</Hidden>
    </span>
  </div>
))

const PromptLine = memo(
  ({ row, isCurrent, isOpen, href }: LineProps<PromptRow> & { isOpen: boolean; href: string }) => {
    const { change, isAgent } = row.item
    return (
      <a
        role="treeitem"
        tabIndex={isCurrent ? 0 : -1}
        {...rowProps(row)}
        href={href}
        className={join(css['row'], change === 'deleted' && css['gone'])}
        aria-selected={isOpen}
        aria-current={isOpen ? 'page' : undefined}
        title={row.item.path}
        draggable
      >
        <span className={css['sign']}>
          {isAgent && <Icon name="agent" size={14} />}
          {isAgent && <Hidden>Agent </Hidden>}
        </span>
        <span className={css['name']}>{row.name}</span>
        {isBroken(row.item) && <ErrorMark text="has errors" />}
        {change && <ChangeMark item={row.item} change={change} />}
      </a>
    )
  },
)

/** The change of a prompt in a draft: `+`, `~`, `→` or `−`. */
function ChangeMark({ item, change }: { item: TreeItem; change: NonNullable<TreeItem['change']> }) {
  const kind = kindOf(change, item) ?? change
  const text = describeChange(kind, item)
  return (
    <span className={css['change']} data-change={kind} title={text}>
      <span aria-hidden="true">{changeMarks[kind]}</span>
      <Hidden>, {text}</Hidden>
    </span>
  )
}

function ErrorMark({ text }: { text: string }) {
  return (
    <span className={css['error']} title={text}>
      <Icon name="warning" size={14} />
      <Hidden>, {text}</Hidden>
    </span>
  )
}

function rowProps(row: Row) {
  return {
    'data-key': row.key,
    'aria-level': row.level,
    'aria-posinset': row.position,
    'aria-setsize': row.siblings,
    style: { '--level': row.level } as CSSProperties,
  }
}

type Actions = Omit<PromptTreeProps, 'rows' | 'openPath' | 'addressOf'>

function useTreeKeys(rows: readonly Row[], at: number, focus: (index: number) => void, actions: Actions) {
  const typed = useRef({ text: '', at: 0 })
  return (event: KeyboardEvent) => {
    const row = rows[at]
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const step = moved(rows, at, event.key)
    const isTyping = event.timeStamp - typed.current.at < typingMs
    if (step && 'focus' in step) focus(step.focus)
    else if (step) actions.onToggle(step.toggle)
    else if (event.key === 'Enter' || event.key === ' ') {
      if (row.kind === 'folder') actions.onToggle(row.key)
      else actions.onOpen(row.key)
    } else if (event.key === 'F2') actions.onRename(row)
    else if (event.key === 'Delete' && row.kind === 'prompt') actions.onDelete(row.item)
    else if (event.key === 'n' && !isTyping) actions.onNew(folderOf(row))
    else if (event.key.length === 1) {
      const text = (isTyping ? typed.current.text : '') + event.key
      const index = typedRow(rows, at, text)
      // A letter that no row starts with may be a shortcut of the console.
      if (index < 0) return
      typed.current = { text, at: event.timeStamp }
      focus(index)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
}

function folderOf(row: Row): string {
  return row.kind === 'folder' ? row.key : row.key.slice(0, row.key.lastIndexOf('/') + 1)
}

/** Dragging a row to a folder opens the rename dialog with the new path. */
function useDrop(rows: readonly Row[], onMove: PromptTreeProps['onMove']) {
  const dragged = useRef<Row | null>(null)
  const [target, setTarget] = useState<string | null>(null)
  const folderAt = (element: EventTarget) => {
    const row = rows[indexOf(element)]
    return row ? folderOf(row) : ''
  }
  const end = () => {
    dragged.current = null
    setTarget(null)
  }
  const handlers = {
    onDragStart: ({ target }: { target: EventTarget }) => {
      dragged.current = rows[indexOf(target)] ?? null
    },
    onDragOver: (event: React.DragEvent) => {
      if (dragged.current === null) return
      event.preventDefault()
      setTarget(folderAt(event.target))
    },
    onDrop: (event: React.DragEvent) => {
      const row = dragged.current
      end()
      if (row === null) return
      event.preventDefault()
      onMove(row, folderAt(event.target))
    },
    onDragEnd: end,
  }
  return { target, handlers }
}

/**
 * Scrolls to the open prompt when it is opened, and moves the focus there if it is in the tree. A list that changes
 * later scrolls nowhere.
 */
function useShownRow(tree: RefObject<HTMLElement | null>, rows: readonly Row[], openPath: string | undefined): void {
  const shown = useRef<string>(undefined)
  useLayoutEffect(() => {
    if (shown.current === openPath) return
    const row = elementAt(
      tree,
      rows.findIndex(({ key }) => key === openPath),
    )
    if (!row) return
    shown.current = openPath
    row.scrollIntoView({ block: 'nearest' })
    if (tree.current?.contains(row.ownerDocument.activeElement)) row.focus({ preventScroll: true })
  })
}

/** When the row with the focus disappears, the row in its place gets the focus. */
function useKeptFocus(tree: RefObject<HTMLDivElement | null>, rows: readonly Row[], at: number): void {
  const kept = useRef({ hasFocus: false, at: 0 })
  useLayoutEffect(() => {
    const { ownerDocument } = tree.current ?? {}
    const isLost = kept.current.hasFocus && ownerDocument?.activeElement === ownerDocument?.body
    if (isLost) elementAt(tree, Math.min(kept.current.at, rows.length - 1))?.focus()
    kept.current = { hasFocus: tree.current?.contains(ownerDocument?.activeElement ?? null) ?? false, at }
  })
  // A row that is still there has given the focus away. The list must not take it back when it is drawn again.
  useEffect(() => {
    const list = tree.current
    if (!list) return
    return listen(list, 'focusout', ({ target }) =>
      queueMicrotask(() => {
        const isElsewhere = !list.contains(list.ownerDocument.activeElement)
        if (isElsewhere && (target as Node).isConnected) kept.current.hasFocus = false
      }),
    )
  }, [tree])
}

function elementAt(tree: RefObject<HTMLElement | null>, index: number): HTMLElement | undefined {
  return tree.current?.children[index] as HTMLElement | undefined
}

/** The position of the row that contains an element, or -1. */
function indexOf(target: EventTarget): number {
  const row = target instanceof Element ? target.closest('[role="treeitem"]') : null
  return row?.parentElement ? [...row.parentElement.children].indexOf(row) : -1
}
