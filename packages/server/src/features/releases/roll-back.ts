/**
 * Makes live serve exactly the texts of an earlier release. Nothing is compiled or checked, because a rollback must not
 * fail when it is needed most.
 */
import type { RollbackBody } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import type { VersionSet } from '../documents/ports.ts'
import { assertServed, readVersionRef } from '../documents/version-ref.ts'
import { addRelease, type Release, type ReleasedVersion } from '../projects/release.ts'

interface RollBackInput extends RollbackBody {
  caller: Caller
  projectId: number
  environment: string
}

export interface RolledBack {
  latest: Release
  /** The release to which the next rollback returns. */
  next: Release | null
  /** Null if live already served the target. */
  release: Release | null
}

/**
 * A target that was edited by force since becomes a new version, so no version is edited in place.
 * @throws AppError NotFoundError for the project or the environment; ConflictError if live serves another version than
 * expected, or if there is no such release.
 */
export async function rollBack(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: RollBackInput,
): Promise<RolledBack> {
  return changeProject(deps, input, async (writer) => {
    const { stores, project, at, audit } = writer
    assertEnvironment(input.environment)
    assertServed(project, input.expectedVersionUuid)
    const { caller, reason } = input
    const { workspaceId, apiKeyId } = caller
    const current = await stores.releases.findLatestOptional(workspaceId, project.id)
    const target = current && (await findTarget(stores, input, current))
    if (!target) throw refuse('nothing-to-return-to')
    const findNext = ({ returnsTo }: Release) =>
      returnsTo === null ? null : stores.releases.findOptional(workspaceId, project.id, returnsTo)
    if (isSame(current.version, target.version) || (await isRepeated(stores, input, current, target)))
      return { latest: current, next: await findNext(current), release: null }
    const version = target.isCurrent ? target.version : await restoreTexts(writer, input, target.version)
    await stores.versions.serve(workspaceId, project.id, version.id, at)
    const restored = { returnsTo: target.returnsTo }
    const release = await addRelease(stores, {
      caller,
      project,
      version,
      kind: 'rollback',
      at,
      reason,
      restored,
      latest: current,
    })
    const { uuid: versionUuid, number } = version
    audit('audit.rollback', { workspaceId, versionUuid, number, seq: release.seq, by: apiKeyId })
    return { latest: release, next: await findNext(release), release }
  })
}

async function findTarget({ releases }: Stores, { caller, projectId, to }: RollBackInput, current: Release) {
  const { workspaceId } = caller
  const seq = to === undefined ? current.returnsTo : to
  if (seq === null) return null
  if (typeof seq === 'number') return releases.findOptional(workspaceId, projectId, seq)
  const { versionRef, revision } = readVersionRef(seq)
  const uuid = readUuid(versionRef)
  return uuid === undefined ? null : releases.findOfVersionOptional(workspaceId, projectId, { uuid, revision })
}

function isSame(one: ReleasedVersion, other: ReleasedVersion): boolean {
  return one.id === other.id && one.revision === other.revision
}

/**
 * True if live already serves a copy of the texts that `to` names. Without `to`, each rollback goes further back, also to
 * equal texts.
 */
async function isRepeated(
  { documents }: Stores,
  { caller: { workspaceId }, projectId, to }: RollBackInput,
  current: Release,
  target: Release,
): Promise<boolean> {
  if (to === undefined || target.isCurrent) return false
  const before = await documents.listHeads(workspaceId, setOf(current.version, projectId))
  const wanted = await documents.listHeads(workspaceId, setOf(target.version, projectId))
  return (
    before.length === wanted.length &&
    before.every(({ path, live }, index) => {
      const other = wanted[index]
      return (
        path === other?.path &&
        live?.contentHash === other.live?.contentHash &&
        live?.documentUuid === other.live?.documentUuid
      )
    })
  )
}

function setOf({ id, number, revision }: ReleasedVersion, projectId: number): VersionSet {
  return { id, projectId, number, asOf: revision }
}

/** Makes the texts of an earlier revision a new version. */
async function restoreTexts(
  { stores, project, at }: ProjectWriter,
  { caller, reason }: RollBackInput,
  past: ReleasedVersion,
): Promise<ReleasedVersion> {
  const { workspaceId, author } = caller
  const version = await stores.versions.createMerged(workspaceId, project.id, {
    title: `rollback to v${past.number}${past.revision === 0 ? '' : `.${past.revision}`}`,
    description: reason || null,
    authorId: author.id,
    parentVersionUuid: project.liveVersionUuid,
    base: past,
    at,
  })
  await stores.documents.copySet(workspaceId, setOf(past, project.id), version.number, [])
  return version
}

/** @param name in any letter case. @throws AppError NotFoundError for any other environment than `live`. */
export function assertEnvironment(name: string): void {
  if (name.toLowerCase() !== 'live') throw refuse('unknown-environment')
}
