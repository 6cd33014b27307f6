import type { Change, TreeItem } from '@stet/sdk'
import { kindOf } from '../../../editor/diff/changed-prompts.ts'

interface Place {
  /** Unique in the tree. A folder's key ends with a slash, because a prompt may have the same path. */
  key: string
  /** The last segment of the path. */
  name: string
  /** 1 for the topmost rows. */
  level: number
  /** The position among the rows of the same folder, from 1, and their number. */
  position: number
  siblings: number
}

export interface FolderRow extends Place {
  kind: 'folder'
  isOpen: boolean
  /** The number of all prompts below the folder. */
  count: number
  changes: number
  errors: number
}

export interface PromptRow extends Place {
  kind: 'prompt'
  item: TreeItem
}

export type Row = FolderRow | PromptRow

/** A prompt at another path, as a push has it. */
export type Move = Change & { from: string }

interface Folder {
  name: string
  key: string
  folders: Map<string, Folder>
  items: { name: string; item: TreeItem }[]
  count: number
  changes: number
  errors: number
}

const byName = new Intl.Collator('en', { numeric: true }).compare

/** The visible rows from top to bottom: folders before prompts, both by name. */
export function rowsOf(items: readonly TreeItem[], closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = []
  const add = (folder: Folder, level: number) => {
    const siblings = folder.folders.size + folder.items.length
    let position = 0
    for (const inner of [...folder.folders.values()].sort((a, b) => byName(a.name, b.name))) {
      const { key, name, count, changes, errors } = inner
      const isOpen = !closed.has(key)
      const place = { key, name, level, position: ++position, siblings }
      rows.push({ kind: 'folder', ...place, isOpen, count, changes, errors })
      if (isOpen) add(inner, level + 1)
    }
    for (const { name, item } of folder.items.sort((a, b) => byName(a.name, b.name)))
      rows.push({ kind: 'prompt', key: item.path, name, level, position: ++position, siblings, item })
  }
  add(foldersOf(items), 1)
  return rows
}

/** The paths in the order of the tree, with those in closed folders. */
export function pathsInOrder(items: readonly TreeItem[]): string[] {
  return rowsOf(items, new Set()).flatMap((row) => (row.kind === 'prompt' ? [row.key] : []))
}

function foldersOf(items: readonly TreeItem[]): Folder {
  const root = emptyFolder('', '')
  for (const item of items) {
    // A prompt that has moved is listed once, at its new path.
    if (item.change && !kindOf(item.change, item)) continue
    const segments = item.path.split('/')
    const name = segments.pop() ?? ''
    let folder = root
    count(folder, item)
    for (const segment of segments) {
      const inner = folder.folders.get(segment) ?? emptyFolder(segment, `${folder.key}${segment}/`)
      folder.folders.set(segment, inner)
      folder = inner
      count(folder, item)
    }
    folder.items.push({ name, item })
  }
  return root
}

function emptyFolder(name: string, key: string): Folder {
  return { name, key, folders: new Map(), items: [], count: 0, changes: 0, errors: 0 }
}

/** Whether a run of the prompt would fail for its text. */
export function isBroken({ change, compiles, isConfigured }: TreeItem): boolean {
  return change !== 'deleted' && (compiles === false || isConfigured === false)
}

function count(folder: Folder, item: TreeItem): void {
  const { change } = item
  if (change !== 'deleted') folder.count++
  if (change) folder.changes++
  if (isBroken(item)) folder.errors++
}

/** The prompts whose path contains every word of the filter, in any order and case. */
export function matching(items: readonly TreeItem[], filter: string): readonly TreeItem[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return items
  return items.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)))
}

export interface TreeCounts {
  prompts: number
  changes: number
  errors: number
}

export function countsOf(items: readonly TreeItem[]): TreeCounts {
  const { count: prompts, changes, errors } = foldersOf(items)
  return { prompts, changes, errors }
}

/** The keys of the folders that a path is in, outermost first. */
export function foldersAbove(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))
}

/**
 * The effect of a key in the tree: the row that gets the focus, or the folder that opens or closes.
 * Letters are handled by `typedRow`.
 */
export function moved(rows: readonly Row[], at: number, key: string): { focus: number } | { toggle: string } | null {
  const row = rows[at]
  if (!row) return null
  const focus = (index: number) => (rows[index] ? { focus: index } : null)
  switch (key) {
    case 'ArrowDown':
      return focus(at + 1)
    case 'ArrowUp':
      return focus(at - 1)
    case 'Home':
      return focus(0)
    case 'End':
      return focus(rows.length - 1)
    case 'ArrowRight':
      if (row.kind === 'prompt') return null
      return row.isOpen ? focus(at + 1) : { toggle: row.key }
    case 'ArrowLeft':
      if (row.kind === 'folder' && row.isOpen) return { toggle: row.key }
      return focus(rows.findLastIndex((above, index) => index < at && above.level < row.level))
    default:
      return null
  }
}

/** Moves a row, and below a folder all its prompts. `path` is the row's new path, also for a folder without a slash. */
export function movesOf(items: readonly TreeItem[], { kind, key }: Pick<Row, 'kind' | 'key'>, path: string): Move[] {
  const isMoving = (item: TreeItem) =>
    item.change !== 'deleted' && (kind === 'folder' ? item.path.startsWith(key) : item.path === key)
  const start = kind === 'folder' ? `${path}/` : path
  return items
    .filter(isMoving)
    .map((item) => ({ status: 'moved', from: item.path, path: start + item.path.slice(key.length) }))
}

/** The next row below `at` whose name starts with the typed text. One repeated letter goes from match to match. */
export function typedRow(rows: readonly Row[], at: number, typed: string): number {
  const isRepeated = typed.length > 1 && [...typed].every((letter) => letter === typed[0])
  const wanted = (isRepeated ? typed.slice(0, 1) : typed).toLowerCase()
  const first = typed.length === 1 || isRepeated ? at + 1 : at
  for (let step = 0; step < rows.length; step++) {
    const index = (first + step) % rows.length
    if (rows[index]?.name.toLowerCase().startsWith(wanted)) return index
  }
  return -1
}
