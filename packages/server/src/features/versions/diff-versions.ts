import type { DiffSide, DiffVersionsQuery, VersionDiff } from '@stet/contract/vocabulary'
import type { Needs } from '../deps.ts'
import type { DocumentText } from '../documents/document.ts'
import { comparePaths } from '../documents/document-path.ts'
import { isConflict } from '../documents/overlay.ts'
import { resolveVersion, type VersionAddress } from '../documents/version-ref.ts'
import type { Version } from '../projects/project.ts'

type DiffChanges = VersionDiff['changes']
type DiffVersionsInput = VersionAddress & DiffVersionsQuery
type Reads = Needs<'stores' | 'liveCache'>

/** Only a draft compared with live can have conflicts. */
export async function diffVersions(deps: Reads, input: DiffVersionsInput): Promise<VersionDiff> {
  const { version: head } = await resolveVersion(deps, input)
  const base = await findBase(deps, input, head)
  const { workspaceId } = input.caller
  const { documents } = deps.stores
  // Reads only paths that may differ, because a project may have many more.
  const paths = base && (await documents.listDifferingPaths(workspaceId, base, head))
  const before = paths ? await documents.listByPaths(workspaceId, base, paths) : []
  const after = paths ? await documents.listByPaths(workspaceId, head, paths) : await documents.list(workspaceId, head)
  const conflicts = await listConflicts(deps, workspaceId, head, base)
  return { base: base?.uuid ?? null, head: head.uuid, changes: compareSets(before, after, conflicts) }
}

async function findBase(deps: Reads, input: DiffVersionsInput, head: Version): Promise<Version | null> {
  const { caller, projectId, base } = input
  if (base !== undefined) return (await resolveVersion(deps, { caller, projectId, versionRef: base })).version
  if (head.number === null) return deps.stores.versions.findLiveOptional(caller.workspaceId, projectId)
  return deps.stores.versions.findNumberOptional(caller.workspaceId, projectId, head.number - 1)
}

async function listConflicts(
  deps: Needs<'stores'>,
  workspaceId: number,
  head: Version,
  base: Version | null,
): Promise<ReadonlySet<string>> {
  if (head.number !== null || base?.isLive !== true) return new Set()
  const slots = await deps.stores.documents.listSlots(workspaceId, head)
  return new Set(slots.filter(isConflict).map((slot) => slot.path))
}

function compareSets(
  before: readonly DocumentText[],
  after: readonly DocumentText[],
  conflicts: ReadonlySet<string>,
): DiffChanges {
  const old = new Map(before.map((text) => [text.path, text]))
  const now = new Map(after.map((text) => [text.path, text]))
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort(comparePaths)
  return paths.flatMap((path) => compareTexts(old.get(path) ?? null, now.get(path) ?? null, conflicts.has(path)))
}

function compareTexts(before: DocumentText | null, after: DocumentText | null, conflict: boolean): DiffChanges {
  const text = after ?? before
  if (text === null || before?.contentHash === after?.contentHash) return []
  const { path, documentUuid } = text
  const status = before === null ? 'added' : after === null ? 'deleted' : 'modified'
  return [{ path, documentUuid, status, before: sideOf(before), after: sideOf(after), conflict }]
}

function sideOf(text: DocumentText | null): DiffSide | null {
  return text && { content: text.content, contentHash: text.contentHash }
}
