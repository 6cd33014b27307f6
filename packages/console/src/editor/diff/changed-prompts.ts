/** Changes as people read them. The API describes a move twice: as `deleted` at the old path, and `added` at the new one. */
import type { TreeItem, VersionDiff } from '@stet/sdk'

type DiffChange = VersionDiff['changes'][number]
type Moves = Pick<TreeItem, 'movedFrom' | 'movedTo'>
export type ChangeKind = DiffChange['status'] | 'moved'

/** The change of one prompt. If it was moved, `before` is its text at the old path. */
export type PromptChange = Omit<DiffChange, 'status'> & { status: ChangeKind }

export const changeMarks = { added: '+', modified: '~', moved: '→', deleted: '−' } as const
export const changeWords = { added: 'added', modified: 'changed', moved: 'moved', deleted: 'deleted' } as const

/** Null at the old path of a prompt, because it is listed at its new one. */
export function kindOf(change: DiffChange['status'], { movedFrom, movedTo }: Moves): ChangeKind | null {
  if (movedFrom) return 'moved'
  if (movedTo === undefined) return change
  return change === 'deleted' ? null : 'added'
}

/** For example "moved from a/b and changed". */
export function describeChange(kind: ChangeKind, { movedFrom }: Pick<Moves, 'movedFrom'>): string {
  if (!movedFrom) return changeWords[kind]
  return `moved from ${movedFrom.path}${movedFrom.contentHash ? ' and changed' : ''}`
}

/** For the `select` of `diffQuery`: each changed prompt once. */
export function changedPrompts(diff: Pick<VersionDiff, 'changes'>): { changes: PromptChange[] } {
  const texts = new Map(diff.changes.map(({ path, before }) => [path, before]))
  const changes = diff.changes.flatMap((change) => {
    const { movedFrom, movedTo } = change
    const status = kindOf(change.status, change)
    const before = movedFrom ? (texts.get(movedFrom.path) ?? null) : movedTo === undefined ? change.before : null
    return status ? [{ ...change, status, before }] : []
  })
  return { changes }
}
