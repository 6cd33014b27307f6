/**
 * Makes a draft live. Fails if an affected prompt does not compile. Without force, also fails if live has newer changes
 * of a prompt that the draft changes.
 */

import type { GateVerdict, PublishVersionBody } from '@stet/contract/vocabulary'
import { foundOrUndefined, refuse } from '../../shared/app-error.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject, type ProjectWriter } from '../documents/change-project.ts'
import type { TextHead } from '../documents/document.ts'
import { isChange, isConflict } from '../documents/overlay.ts'
import type { SlotOf } from '../documents/ports.ts'
import { assertServed, findProject, findVersionRow, ownerOf, type VersionAddress } from '../documents/version-ref.ts'
import type { RecordedVersion, Version } from '../projects/project.ts'
import { toOverridden } from '../projects/release.ts'
import { assertGates, assertReleasable } from './check-release.ts'
import {
  ChangedMeanwhile,
  type CompiledDraft,
  compileDraft,
  fingerprint,
  hashesIn,
  type PlannedDraft,
  untilUnchanged,
} from './drafts/compile-draft.ts'
import {
  hashesOfConflict,
  type LiveMerges,
  mergeWithLive,
  noMerges,
  withMerges,
  writeMerges,
} from './drafts/merge-with-live.ts'
import { mergeDraft } from './merge-draft.ts'
import type { GateResult } from './ports.ts'

type PublishVersionInput = VersionAddress & PublishVersionBody

type Publishes = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'gates' | 'clock' | 'logger'>

/**
 * @throws AppError BadRequestError if the version is not a draft; NotFoundError for the project; ConflictError for
 * newer changes of live (unless forced), a draft that keeps changing, a check that `block` names, or a gate that blocks;
 * UnprocessableEntityError for compile errors.
 */
export async function publishVersion(deps: Publishes, input: PublishVersionInput): Promise<RecordedVersion> {
  return publishPlanned(deps, input, {
    async plan(stores) {
      const draft = await findDraft(stores, input)
      const slots = await stores.documents.listSlotHeads(input.caller.workspaceId, draft)
      return { set: draft, slots, written: new Map() }
    },
    write: ({ stores }) => findDraft(stores, input),
  })
}

interface Planned {
  /** Reads what the draft will be when `write` has returned it. */
  plan(stores: Stores): Promise<PlannedDraft>
  write(writer: ProjectWriter): Promise<Version>
}

/**
 * Compiles outside of any transaction. The publishing transaction writes the draft and verifies that its texts are
 * those that were compiled, so texts count that no row held before.
 * @throws AppError as `publishVersion`, and the errors of `plan` and `write`.
 */
export async function publishPlanned(
  deps: Publishes,
  input: Omit<PublishVersionInput, 'versionRef'>,
  { plan, write }: Planned,
): Promise<RecordedVersion> {
  await findProject(deps, input.caller, input.projectId)
  return untilUnchanged(async () => {
    const planned = await plan(deps.stores)
    const merges = input.merge ? await mergeWithLive(deps, ownerOf(input), planned) : noMerges
    if (!input.force) assertNoConflict(planned.slots, merges)
    const merged = withMerges(planned, merges)
    const compiled = await compileDraft(deps, ownerOf(input), merged)
    assertReleasable(compiled, input.block ?? [])
    const gates = await deps.gates.read({ owner: ownerOf(input), projectId: input.projectId, ...merged })
    const overrides = assertGates(gates, input.override)
    return changeProject(deps, input, async (writer) => {
      const draft = await write(writer)
      await writeMerges(writer, input.caller, draft, merges)
      return publishCompiled(writer, { ...input, overrides }, draft, { ...compiled, gates })
    })
  })
}

async function publishCompiled(
  writer: ProjectWriter,
  input: Omit<PublishVersionInput, 'versionRef'> & { overrides: readonly GateVerdict[] },
  draft: Version,
  compiled: CompiledDraft & { gates: GateResult },
): Promise<RecordedVersion> {
  const { stores, at, project } = writer
  const { workspaceId, author } = input.caller
  assertServed(project, input.expectedVersionUuid)
  const slots = await stores.documents.listSlotHeads(workspaceId, draft)
  // A conflict with a text of live that is newer than the merges may merge too.
  if (input.merge && !input.force && slots.some(isConflict)) throw new ChangedMeanwhile()
  if (!input.force) assertNoConflict(slots)
  const changes = slots.filter(isChange)
  const texts = await stores.documents.list(workspaceId, draft, { paths: compiled.paths, orReferring: true })
  if (fingerprint(hashesIn(texts), changes) !== compiled.fingerprint) throw new ChangedMeanwhile()
  await assertSameLive(writer, workspaceId, compiled.gates)
  const publication = {
    title: input.title || draft.title,
    description: input.description === undefined ? draft.description : input.description || null,
    at,
    publishedBy: author.id,
  }
  const { caller, reason } = input
  const overrides = input.overrides.map(toOverridden)
  const version = await mergeDraft(writer, { caller, draft, slots, changes, publication, reason, overrides })
  await stores.projects.touch(workspaceId, draft.projectId, at)
  const { uuid: versionUuid, number } = version
  writer.audit('audit.publish', {
    workspaceId,
    versionUuid,
    number,
    force: input.force === true,
    by: input.caller.apiKeyId,
  })
  return { ...version, publishedBy: author, forcedEdits: [] }
}

/** The texts of agents are not among those that the draft's compilation compares. */
async function assertSameLive(
  { stores, project }: ProjectWriter,
  workspaceId: number,
  gates: GateResult,
): Promise<void> {
  if (gates.verdicts.length === 0) return
  const live = await stores.versions.findLiveOptional(workspaceId, project.id)
  if (live?.uuid !== gates.live?.uuid || live?.revision !== gates.live?.revision) throw new ChangedMeanwhile()
}

/** @throws AppError BadRequestError, the same for merged, `live`, unknown, malformed and foreign versions. */
async function findDraft(stores: Stores, input: PublishVersionInput): Promise<Version> {
  const version = await foundOrUndefined(findVersionRow(stores, input))
  if (version?.number !== null) throw refuse('not-a-draft')
  return version
}

/** @throws AppError ConflictError for conflicts that are not merged. */
function assertNoConflict(slots: readonly SlotOf<TextHead>[], { clean, conflicts }: LiveMerges = noMerges): void {
  const found = slots
    .filter((slot) => isConflict(slot) && !clean.has(slot.path))
    .map((slot) => conflicts.get(slot.path) ?? hashesOfConflict(slot))
  if (found.length > 0) throw refuse('live-changed', { conflicts: found })
}
