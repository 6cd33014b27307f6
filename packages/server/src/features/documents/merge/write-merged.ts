/** Writes to a draft with `merge`: if a text has changed since its base, the texts are merged and the write is repeated. */
import { refuse } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { byPath, hashContent, loadFromVersion, loadWith, type SourceText } from '../check-document.ts'
import { shownIn } from '../overlay.ts'
import type { Slot, VersionSet } from '../ports.ts'
import { hashIn } from '../preconditions.ts'
import { ownerOf, resolveVersion, type VersionAddress } from '../version-ref.ts'
import { assertBase, describeConflict, type Sides, textMerger } from './merge-text.ts'

/** One text of a request. */
export interface MergingWrite extends Pick<Sides, 'path' | 'base' | 'baseHash'> {
  /** Null for a deletion. */
  content: string | null
  /** The path from which the prompt moves. `baseHash` concerns the prompt there. */
  from?: string
}

/** By path, what to write and the hash of the text that it replaces. */
export type CurrentWrites = ReadonlyMap<string, MergingWrite & { isMerged?: true }>

interface StaleText {
  path: string
  theirs: string | null
  /** The hash of `theirs`. */
  actual: string | null
}

/** Rolls back a transaction that would overwrite changes. */
class StaleTexts extends Error {
  readonly texts: readonly StaleText[]

  constructor(texts: readonly StaleText[]) {
    super('The texts have changed since their bases')
    this.texts = texts
  }
}

/**
 * @param moved the prompts that are at their new paths already.
 * @throws StaleTexts if a write would replace another text than its base.
 */
export function assertCurrent(
  current: CurrentWrites,
  slots: readonly Slot[],
  moved: ReadonlyMap<string, SourceText> = new Map(),
): void {
  const slotAt = new Map(slots.map((slot) => [slot.path, slot]))
  const replaced = ({ path, from = path }: MergingWrite) => {
    const slot = slotAt.get(from)
    return moved.get(path) ?? (slot && shownIn(slot))
  }
  const stale = [...current.values()].flatMap((write) => {
    const { path, baseHash } = write
    const { content: theirs = null, contentHash: actual = null } = replaced(write) ?? {}
    return hashIn(baseHash) === (actual ?? '') ? [] : [{ path, theirs, actual }]
  })
  if (stale.length > 0) throw new StaleTexts(stale)
}

/** Returns the texts that differ from those of the request. */
export function mergedTexts(current: CurrentWrites = new Map()): SourceText[] {
  return textsIn([...current.values()].filter(({ isMerged }) => isMerged))
}

function textsIn(writes: readonly MergingWrite[]): SourceText[] {
  return writes.flatMap(({ path, content }) =>
    content === null ? [] : [{ path, content, contentHash: hashContent(content) }],
  )
}

interface MergeTarget extends Pick<VersionAddress, 'caller' | 'signal'> {
  /** The name of the replaced texts in conflict markers. */
  theirs: 'draft' | 'live'
  /** Finds the version whose texts the write replaces. */
  findSet(): Promise<VersionSet>
}

type Merges = Needs<'stores' | 'templates'>

export function mergeTarget(deps: Merges & Needs<'liveCache'>, input: VersionAddress): MergeTarget {
  return { ...input, theirs: 'draft', findSet: async () => (await resolveVersion(deps, input)).version }
}

// Another attempt follows only if a write changed the texts between merge and lock.
const maxAttempts = 20

/**
 * Repeats `write` with merged texts until no other write comes between. The first attempt costs no statement more than a
 * write without `merge`. `write` calls `assertCurrent` in its transaction.
 * @throws AppError BadRequestError for a wrong `base`; ConflictError for overlapping changes; errors of `write`.
 */
export async function writeMerged<Result>(
  deps: Merges,
  target: MergeTarget,
  writes: readonly MergingWrite[],
  write: (current: CurrentWrites) => Promise<Result>,
): Promise<Result> {
  for (const each of writes) assertBase(each)
  const given = new Map(writes.map((each) => [each.path, each]))
  let current: CurrentWrites = given
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write(current)
    } catch (error) {
      if (!(error instanceof StaleTexts)) throw error
      if (attempt === maxAttempts) throw refuse('base-changed', { conflicts: error.texts.map(hashesOf) })
      current = new Map([...current, ...(await mergeStale(deps, target, given, error.texts))])
    }
  }

  function hashesOf({ path, actual }: StaleText) {
    return { path: given.get(path)?.from ?? path, expected: given.get(path)?.baseHash, actual }
  }
}

/** @throws AppError ConflictError */
async function mergeStale(
  deps: Merges,
  target: MergeTarget,
  given: ReadonlyMap<string, MergingWrite>,
  stale: readonly StaleText[],
): Promise<CurrentWrites> {
  const set = await target.findSet()
  const owner = ownerOf(target)
  // A merged text may refer to other texts of the request.
  const load = loadWith(byPath(textsIn([...given.values()])), loadFromVersion(deps, owner.workspaceId, set))
  const names = { mine: 'yours', theirs: target.theirs }
  const merge = textMerger(deps, { owner, projectId: set.projectId, names, load })
  const merged = new Map<string, MergingWrite & { isMerged?: true }>()
  const conflicts: object[] = []
  for (const { path, theirs, actual } of stale) {
    const write = given.get(path)
    const { content: mine = null, baseHash = '', base, from = path } = write ?? {}
    const result = await merge({ path, basePath: from, mine, theirs, baseHash, base })
    const { content } = result
    if (!result.isClean) conflicts.push({ path: from, expected: baseHash, actual, ...describeConflict(result) })
    else
      merged.set(path, { ...write, path, content, baseHash: actual ?? '', ...(content !== mine && { isMerged: true }) })
  }
  if (conflicts.length > 0) throw refuse('base-changed', { conflicts })
  return merged
}
