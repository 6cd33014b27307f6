import type { DiffSide, VersionDiff } from '@stet/contract/vocabulary'
import type { Needs, Stores } from '../deps.ts'
import type { DocumentText } from '../documents/document.ts'
import { comparePaths } from '../documents/document-path.ts'
import { isConflict, type Moves, movesIn } from '../documents/overlay.ts'
import { readTexts } from '../documents/read-texts.ts'
import { resolveVersion, type VersionAddress } from '../documents/version-ref.ts'
import type { Version } from '../projects/project.ts'

type DiffChange = VersionDiff['changes'][number]
type DiffVersionsInput = VersionAddress & { base?: Pick<VersionAddress, 'versionRef' | 'revision'> | undefined }
type Reads = Needs<'stores' | 'liveCache'>

export interface Comparison {
  base: string | null
  head: string
  /** Starts from the beginning each time. */
  changes(): AsyncGenerator<DiffChange>
}

/**
 * Only a draft compared with live can have conflicts. The changes are read while they are sent, because all of them may
 * not fit in memory.
 */
export async function diffVersions(deps: Reads, input: DiffVersionsInput): Promise<Comparison> {
  const { version: head } = await resolveVersion(deps, input)
  const base = await findBase(deps, input, head)
  const { workspaceId } = input.caller
  return {
    base: base?.uuid ?? null,
    head: head.uuid,
    async *changes() {
      // Reads only paths that may differ, because a project may have many more.
      const paths = base ? await deps.stores.documents.listDifferingPaths(workspaceId, base, head) : undefined
      const described = base && paths && (await describePaths(deps, workspaceId, { base, head, paths }))
      const textsOf = (set: Version) => texts(deps.stores, workspaceId, set, paths)
      for await (const [path, before, after] of pairsOf(base ? textsOf(base) : none(), textsOf(head))) {
        yield* compareTexts(before, after, { conflict: false, ...described?.get(path) })
      }
    },
  }
}

async function* texts(stores: Stores, workspaceId: number, set: Version, paths?: readonly string[]) {
  for await (const part of readTexts(stores, workspaceId, set, { paths })) yield* part
}

async function* none(): AsyncGenerator<DocumentText> {}

type Pair = [path: string, before: DocumentText | null, after: DocumentText | null]

/** Merges two lists in path order. */
async function* pairsOf(
  before: AsyncGenerator<DocumentText>,
  after: AsyncGenerator<DocumentText>,
): AsyncGenerator<Pair> {
  const next = async (of: AsyncGenerator<DocumentText>): Promise<DocumentText | null> => (await of.next()).value ?? null
  let [old, now] = [await next(before), await next(after)]
  while (old || now) {
    const order = old && now ? comparePaths(old.path, now.path) : old ? -1 : 1
    const pair = [order <= 0 ? old : null, order >= 0 ? now : null] as const
    yield [(pair[0] ?? pair[1])?.path ?? '', ...pair]
    if (pair[0]) old = await next(before)
    if (pair[1]) now = await next(after)
  }
}

async function findBase(deps: Reads, input: DiffVersionsInput, head: Version): Promise<Version | null> {
  const { caller, projectId, base } = input
  if (base !== undefined) return (await resolveVersion(deps, { caller, projectId, ...base })).version
  if (head.number === null) return deps.stores.versions.findLiveOptional(caller.workspaceId, projectId)
  return deps.stores.versions.findNumberOptional(caller.workspaceId, projectId, head.number - 1)
}

type Described = Moves & Pick<DiffChange, 'conflict'>

/** Returns what a comparison says about paths besides their texts. */
async function describePaths(
  deps: Needs<'stores'>,
  workspaceId: number,
  sides: { base: Version; head: Version; paths: readonly string[] },
): Promise<ReadonlyMap<string, Partial<Described>>> {
  const { base, head } = sides
  if (head.number !== null || !base.isLive) return findMoves(deps, workspaceId, sides)
  const slots = await deps.stores.documents.listSlotHeads(workspaceId, head)
  const described: Map<string, Partial<Described>> = movesIn(slots)
  // Both paths of a move that conflicts, because live's change belongs into the text at the new one.
  for (const { path, movedTo } of slots.filter(isConflict)) {
    for (const each of movedTo ? [path, movedTo.path] : [path]) {
      described.set(each, { ...described.get(each), conflict: true })
    }
  }
  return described
}

/** Finds the prompts that both versions have, at different paths. Both paths of a move differ, so they are in `paths`. */
async function findMoves(
  { stores: { documents } }: Needs<'stores'>,
  workspaceId: number,
  { base, head, paths }: { base: Version; head: Version; paths: readonly string[] },
): Promise<ReadonlyMap<string, Moves>> {
  const before = new Map(
    (await documents.listNames(workspaceId, base, paths)).map((named) => [named.documentUuid, named]),
  )
  const moves = new Map<string, Moves>()
  const add = (path: string, move: Moves) => moves.set(path, { ...moves.get(path), ...move })
  for (const { path, documentUuid, contentHash } of await documents.listNames(workspaceId, head, paths)) {
    const origin = before.get(documentUuid)
    if (!origin || origin.path === path) continue
    const isEdited = origin.contentHash !== contentHash
    add(path, { movedFrom: { path: origin.path, ...(isEdited && { contentHash: origin.contentHash }) } })
    add(origin.path, { movedTo: path })
  }
  return moves
}

function compareTexts(
  before: DocumentText | null,
  after: DocumentText | null,
  { conflict, ...moves }: Described,
): DiffChange[] {
  const text = after ?? before
  const isMove = moves.movedFrom !== undefined || moves.movedTo !== undefined
  if (text === null || (before?.contentHash === after?.contentHash && !isMove)) return []
  const { path, documentUuid } = text
  const status = before === null ? 'added' : after === null ? 'deleted' : 'modified'
  return [{ path, documentUuid, status, before: sideOf(before), after: sideOf(after), conflict, ...moves }]
}

function sideOf(text: DocumentText | null): DiffSide | null {
  return text && { content: text.content, contentHash: text.contentHash }
}
